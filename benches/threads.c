/*
 * Creates and joins threads one after another and prints what one took.
 * threads [THREADS]
 */
#include "truth.h"

#include <pthread.h>

static void *nothing(void *argument) { return argument; }

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2000;
    double began = wall(), cpu = process_cpu();
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    printf("{\"threads\":%d,\"cpu_us\":%.3f,\"wall_us\":%.3f}\n", threads,
           1e6 * (process_cpu() - cpu) / threads, 1e6 * (wall() - began) / threads);
    return 0;
}

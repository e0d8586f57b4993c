/*
 * Processes that end while their other threads yield the processor all the time, from call paths of different
 * depth that use the same part of the stack.
 * ends_while_yielding [PROCESSES]
 */
#include "truth.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 6, DEPTHS = 7 };

static __attribute__((noinline)) unsigned deeper(unsigned depth, volatile unsigned char *above)
{
    volatile unsigned char block[48];
    for (unsigned i = 0; i < sizeof block; i++)
        block[i] = (unsigned char)(depth + i + above[i % 8]);
    unsigned sum = 0;
    if (depth > 0)
        sum = deeper(depth - 1, block);
    else
        sched_yield();
    return sum + block[depth];
}

static void *yields(void *unused)
{
    volatile unsigned char first[8] = {1};
    for (unsigned turn = 0;; turn++)
        first[0] = (unsigned char)deeper(turn % DEPTHS, first);
    return unused;
}

static void one_process(void)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, yields, NULL) != 0)
            exit(2);
    }
    usleep(2000);
    exit(0);
}

int main(int argc, char **argv)
{
    int processes = argc > 1 ? atoi(argv[1]) : 50;
    for (int i = 0; i < processes; i++) {
        pid_t child = fork();
        if (child == 0)
            one_process();
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return 1;
    }
    return 0;
}

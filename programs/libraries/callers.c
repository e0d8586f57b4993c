/* Threads that all call one library. Arguments: seconds, `locked` or `free`. */
#include <pthread.h>

#include "../truth.h"

void exec_work(uint64_t units, int is_locked);

static double seconds;
static int is_locked;

KEPT static void product(void)
{
    exec_work(20, is_locked);
    __asm__ volatile("");
}

static void *call(void *unused)
{
    (void)unused;
    for (double until = wall() + seconds; wall() < until;) {
        product();
        uint64_t x = 1;
        BURN(x, UNIT);
        kept_result = x;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    seconds = seconds_argument(argc, argv, 1, 0.5);
    is_locked = argc < 3 || argv[2][0] == 'l';
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, call, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("{\"cpu_s\":%.6f}\n", process_cpu());
    return 0;
}

/*
 * Split stacks (-fsplit-stack): the stack is a list of pieces from the heap, and a deep call goes on in another one.
 * hostile_split
 */
#include "hostile.h"

#include <pthread.h>

static __attribute__((noinline)) long deep(long level)
{
    volatile char room[1000];
    uint64_t x = 1;
    room[level % 1000] = 1;
    if (level % 100 == 0)
        BURN(x, 20 * UNIT);
    kept_result += x;
    return level == 0 ? room[0] : deep(level - 1) + room[level % 1000];
}

static void *goes_deep(void *argument)
{
    (void)argument;
    long sum = 0;
    for (int i = 0; i < 20; i++)
        sum += deep(2000);
    return (void *)sum;
}

static void pieces(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, goes_deep, NULL);
    for (int i = 0; i < 2; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        CHECK_IS(sum, 20 * 2001);
    }
    CHECK_IS(goes_deep(NULL), 20 * 2001);
}

int main(int argc, char **argv)
{
    static const struct hostile_case cases[] = {{"pieces", pieces}, {NULL, NULL}};
    return run_cases(cases, argc, argv);
}

/*
 * What sanitizers look at: heap, threads, arithmetic. Built with each of them; `sanitized wrong` does what
 * it should not.
 * sanitized [wrong]
 */
#include "hostile.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static char *volatile lost;

static void *counts(void *argument)
{
    (void)argument;
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
        char *memory = malloc(1000);
        memset(memory, i, 1000);
        free(memory);
        uint64_t x = kept_result;
        BURN(x, UNIT);
    }
    return NULL;
}

static void *races(void *argument)
{
    (void)argument;
    for (int i = 0; i < 1000; i++)
        counter++;
    return NULL;
}

static void ordinary(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, counts, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_IS(counter, 800);
    burn_cpu(0.1);
}

int main(int argc, char **argv)
{
    static const struct hostile_case cases[] = {{"ordinary", ordinary}, {NULL, NULL}};
    if (argc == 2 && strcmp(argv[1], "wrong") == 0) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, races, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        volatile int big = 2147483647;
        volatile int bigger = big + argc;
        (void)bigger;
        lost = malloc(10);
        lost[0] = 1;
        volatile int beyond = 10;
        kept_result += (uint64_t)lost[beyond];
        lost = NULL;
        char *volatile never_set = malloc(10);
        if (never_set[argc] == 1)
            printf("it happens to be one\n");
        free(never_set);
        return 0;
    }
    return run_cases(cases, argc, argv);
}

/*
 * A program that asks whether there is a runtime of OpenMP, and works with it if there is one. It prints
 * how often the body of a region ran, with or without a runtime, and how many of the names that it asked
 * for are there.
 */
#include <stdio.h>

void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned) __attribute__((weak));
void GOMP_critical_start(void) __attribute__((weak));
void GOMP_critical_end(void) __attribute__((weak));

static void add(void *sum)
{
    if (GOMP_critical_start && GOMP_critical_end) {
        GOMP_critical_start();
        ++*(int *)sum;
        GOMP_critical_end();
    }
}

int main(void)
{
    int sum = 0;
    if (GOMP_parallel)
        GOMP_parallel(add, &sum, 3, 0);
    else
        sum = 3;
    printf("%d\n%d names\n", sum, !!GOMP_parallel + !!GOMP_critical_start + !!GOMP_critical_end);
    return sum == 3 ? 0 : 1;
}

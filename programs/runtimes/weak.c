/*
 * A program that asks whether there is a runtime of OpenMP, and works with it if there is one: it is told so where somebody
 * stands in front of that. Then a region must be one: its body runs as often as the team has threads.
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
    printf("%d\n", sum);
    return sum == 3 ? 0 : 1;
}

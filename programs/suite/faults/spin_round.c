/* Helpers wait for their next round by giving the processor away again and again. */
#include <pthread.h>
#include <stdatomic.h>

#include "../suite.h"

static atomic_int round_open, done;
static int rounds;

static NOINLINE double prepare(double value) { return refine(value, 90000); }

static NOINLINE double share_of(double value) { return refine(value, 40000); }

static NOINLINE void await_round(int number)
{
    while (round_open < number)
        sched_yield(); /* FAULT: keeps a processor busy while there is nothing to do */
}

static void *help(void *value)
{
    for (int number = 1; number <= rounds; number++) {
        await_round(number);
        *(double *)value = share_of(*(double *)value);
        done++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int helpers = threads_asked(argc, argv);
    pthread_t *team = calloc(helpers, sizeof *team);
    double *values = calloc(16 * helpers, sizeof *values), next = 1;
    rounds = 700;
    for (int i = 0; i < helpers; i++)
        pthread_create(&team[i], NULL, help, &values[16 * i]);
    for (int number = 1; number <= rounds; number++) {
        next = prepare(next);
        round_open = number;
        while (done < helpers * number)
            sched_yield();
    }
    for (int i = 0; i < helpers; i++)
        pthread_join(team[i], NULL);
    printf("%.6f\n", next + values[0]);
    free(team);
    free(values);
    return 0;
}

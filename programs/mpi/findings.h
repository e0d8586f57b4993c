/* What the parts of the program `findings` share. */
#ifndef PROUST_PROGRAMS_MPI_FINDINGS_H
#define PROUST_PROGRAMS_MPI_FINDINGS_H

#include "../truth.h"

#include <mpi.h>
#include <string.h>

enum { VALUES = 1000, FEW = 3 };

extern int rank, ranks;
/* How long a case takes; and what this rank lost by its own clock. */
extern double seconds, lost_s;
extern double some[VALUES], others[VALUES];

/* Macros, so that the time belongs to the function that they are written in. */
#define SLEEP_UNTIL(when_s)                                                                                  \
    do {                                                                                                     \
        double until_s = (when_s);                                                                           \
        struct timespec time = {(time_t)until_s, (long)(1e9 * (until_s - (double)(time_t)until_s))};         \
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);                                        \
    } while (0)
#define SLEEP(length_s) SLEEP_UNTIL(wall() + (length_s))

/* A call in which this rank may wait. */
#define WAITS(call)                                                                                          \
    do {                                                                                                     \
        double since_s = wall();                                                                             \
        call;                                                                                                \
        lost_s += wall() - since_s;                                                                          \
    } while (0)

/* What a function calls last must not take its place on the stack. */
#define STAY __asm__ volatile("")

/* What all ranks do: a step of work. */
void work(void);

/* Cases of calls, in findings_calls.c. */
void value_by_value(void);
void all_values(void);
void sum_by_sum(void);
void all_sums(void);
void communicator_each(void);
void one_communicator(void);
void look_each(void);
void look_seldom(void);
void element_by_element(void);
void many_elements(void);
void all_of_each(void);
void few_of_each(void);

#endif

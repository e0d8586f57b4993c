/* What the cases of `findings` share: threads, a file of their own, and the time that each lost by its own
   clock. */
#ifndef PROUST_PROGRAMS_FINDINGS_CASES_H
#define PROUST_PROGRAMS_FINDINGS_CASES_H

#include "../truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_THREADS = 256 };

/* A program with a fault, and the same one repaired. */
struct finding_case {
    const char *name;
    void (*fault)(double seconds);
    void (*repaired)(double seconds);
};

/* Ends with an entry without a name. */
extern const struct finding_case lock_cases[], phase_cases[], waiting_cases[], memory_cases[], system_cases[],
    text_cases[];

/* What threads of this case lost by their own clocks; -1 = it does not tell. */
extern double lost_s;
extern pthread_mutex_t lost_mutex;

/* Burns that much CPU time in the function that it is written in: what is called does not appear below it. */
#define WORK_FOR(seconds)                                                                                    \
    do {                                                                                                     \
        uint64_t work_x = kept_result;                                                                       \
        for (double work_end = thread_cpu() + (seconds); thread_cpu() < work_end;)                           \
            BURN(work_x, 10 * UNIT);                                                                         \
        kept_result = work_x;                                                                                \
    } while (0)

/* Starts a thread that is joined by join_all. */
void start(void *(*run)(void *), void *argument);
void join_all(void);

/* Locks and adds the time that took to `*waited`. */
#define LOCK_TIMED(mutex, waited)                                                                            \
    do {                                                                                                     \
        double lock_since = wall();                                                                          \
        pthread_mutex_lock(mutex);                                                                           \
        *(waited) += wall() - lock_since;                                                                    \
    } while (0)

/* A thread lost so much. */
void has_lost(double seconds);

/* A file that nobody else sees; it is gone when it is closed. */
int own_file(void);

/* The same; what is written to it has reached its device when the call returns. */
int safe_file(void);

/* Processors that this process may use. */
int available(void);

#endif

/* What the groups of semantics share: the lines they print, threads that are known to be blocked, and
   signals. */
#ifndef PROUST_PROGRAMS_CASES_H
#define PROUST_PROGRAMS_CASES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One line of the output. `expected` is what the manuals say; another outcome is marked and counted. */
void outcome(const char *name, const char *expected, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int wrong_outcomes(void);
int all_outcomes(void);

/* The name of an error, "0" for none. */
const char *error_name(int error);
/* The result of a call that sets errno: its value, or -1 and the name of the error. */
const char *result_text(long result, int error);
/* The value of `call`, and what it set errno to, as text. */
#define OUT(call)                                                                                            \
    ({                                                                                                       \
        errno = 0;                                                                                           \
        long out_result = (long)(call);                                                                      \
        result_text(out_result, errno);                                                                      \
    })
/* The same for the calls that return an error. */
#define ERR(call) error_name(call)

/* An address that nobody has mapped, which no compiler knows. */
extern void *volatile nowhere;

/* The order of things: what happened since the last call of `events`. */
void event(const char *what);
const char *events(void);
/* A number as text that lives as long as the next few. */
const char *number(long value);
/* Outcomes one after another: the arguments of a function would be computed in any order. */
#define BOTH(a, b) (event(a), event(b), events())
#define THREE(a, b, c) (event(a), event(b), event(c), events())
#define FOUR(a, b, c, d) (event(a), event(b), event(c), event(d), events())

/* A point in time so many milliseconds ahead; negative: in the past. */
struct timespec ahead(clockid_t clock, long milliseconds);
/* Generous enough that no loaded machine reaches it. */
#define LATER_MS 60000
#define EARLIER_MS (-60000)
/* Short enough to be waited for. */
#define SHORTLY_MS 8
long elapsed_ns(const struct timespec *since);
/* Whether a call that waits `SHORTLY_MS` came back too early: "in time" or "early". */
#define NOT_EARLY(text)                                                                                      \
    ({                                                                                                       \
        struct timespec not_early_since;                                                                     \
        clock_gettime(CLOCK_MONOTONIC, &not_early_since);                                                    \
        const char *not_early_text = (text);                                                                 \
        elapsed_ns(&not_early_since) >= SHORTLY_MS * 1000000L - 1000000L ? not_early_text : "early";         \
    })

/* A thread that others can see blocked. */
struct worker {
    pthread_t thread;
    void *(*run)(void *);
    void *argument;
    atomic_int tid, arrived;
};

void start(struct worker *worker, void *(*run)(void *), void *argument);
/* Called in the worker just before the call that blocks. */
void arrive(void);
/* Returns when the worker has arrived and sleeps in the kernel. */
void until_asleep(struct worker *worker);
void *finish(struct worker *worker);
/* Calls `function` in another thread. */
int elsewhere(int (*function)(void *), void *argument);

extern volatile sig_atomic_t handled;
/* Counts. */
void count_signal(int number);
void handle(int number, void (*handler)(int), int flags);
/* Sends the calling thread one signal as soon as it has arrived and sleeps. */
void interrupt_me(int number);
/* The helper of `interrupt_me` has ended. */
void interrupted(void);
/* `call` is interrupted by that signal when it sleeps. */
#define INTERRUPTED(number, call)                                                                            \
    ({                                                                                                       \
        interrupt_me(number);                                                                                \
        arrive();                                                                                            \
        const char *interrupted_text = (call);                                                               \
        interrupted();                                                                                       \
        interrupted_text;                                                                                    \
    })

/* Memory shared with forked children. */
void *shared_memory(size_t size);
/* A child that runs `function` and ends with what it returns. */
pid_t child_of(int (*function)(void *), void *argument);
/* Its exit code; 1000 and the signal's number if one ended it. */
int ended(pid_t child);
/* Burns that many milliseconds of CPU time. */
void work(long milliseconds);

/* The groups. */
void mutexes(void);
void rwlocks(void);
void conditions(void);
void semaphores(void);
void barriers_and_once(void);
void threads_and_keys(void);
void standard_threads(void);
void sleeps(void);
void polls(void);
void signal_waits(void);
void handlers(void);
void files(void);
void pipes(void);
void sockets(void);
void streams(void);
void formats(void);
void raw_calls(void);
void cancellation(void);
void processes(void);
void last_things(void);

#endif

/*
 * A program with signals of its own: a SIGPROF timer, a handler that computes, a thread that blocks every
 * signal, and a handler for SIGURG, a signal that a sampler may want for itself.
 * signals [SECONDS]
 */
#include "truth.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

enum { URGENT = 1000, PROF_MICROSECONDS = 10000 };

static volatile sig_atomic_t prof_hits, foreign_prof, urgent_hits, foreign_urgent;
static double handler_s, blocked_cpu_s;
static long blocked_tid;
static int mask_kept;

/*
 * The clock that ITIMER_PROF counts. Most kernels charge a whole tick to whoever runs when it comes, so
 * beside other programs this clock differs from CLOCK_PROCESS_CPUTIME_ID by tens of percent. Its number is
 * that of this process, kind 0 (linux/posix-timers.h).
 */
static double timer_clock(void)
{
    return clock_now((clockid_t)(~0u << 3));
}

/* The kernel itself sends the signal of setitimer; any other timer's carries another code. */
static void on_prof(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_code == SI_KERNEL)
        prof_hits++;
    else
        foreign_prof++;
}

/* Only what this program raised may arrive here: a timer's signal would carry another code. */
static void on_urgent(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_code == SI_TKILL && info->si_pid == getpid())
        urgent_hits++;
    else
        foreign_urgent++;
}

KEPT void compute_in_handler(void)
{
    uint64_t x = kept_result;
    BURN(x, 10 * UNIT);
    kept_result = x;
}

static void on_user(int number)
{
    (void)number;
    compute_in_handler();
}

KEPT void interrupted_by_handler(double for_seconds)
{
    double end = thread_cpu() + for_seconds;
    for (double now = thread_cpu(); now < end;) {
        raise(SIGUSR1);
        double after = thread_cpu();
        handler_s += after - now;
        now = after;
    }
}

KEPT void timed_by_its_own_timer(double for_seconds)
{
    burn_cpu(for_seconds);
}

KEPT void *all_signals_blocked(void *for_seconds)
{
    sigset_t all, now;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    burn_cpu(*(double *)for_seconds);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    mask_kept = sigismember(&now, SIGURG) == 1 && sigismember(&now, SIGPROF) == 1;
    blocked_tid = thread_id();
    blocked_cpu_s = thread_cpu();
    return NULL;
}

static void set_handler(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
    double began = wall(), part = seconds_argument(argc, argv, 1, 1.0) / 3;

    /* Own timer; the clock it counts is that of all threads, of which there is one here. */
    struct sigaction on_timer = {.sa_sigaction = on_prof, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGPROF, &on_timer, NULL);
    struct itimerval every = {{0, PROF_MICROSECONDS}, {0, PROF_MICROSECONDS}}, never = {{0, 0}, {0, 0}};
    double before = process_cpu(), timer_before = timer_clock();
    setitimer(ITIMER_PROF, &every, NULL);
    timed_by_its_own_timer(part);
    setitimer(ITIMER_PROF, &never, NULL);
    double timed_s = process_cpu() - before, timer_s = timer_clock() - timer_before;

    set_handler(SIGUSR1, on_user);
    interrupted_by_handler(part);

    pthread_t thread;
    pthread_create(&thread, NULL, all_signals_blocked, &part);
    pthread_join(thread, NULL);

    /* Own SIGURG handler: the previous action must look untouched, and every raise must arrive once. */
    struct sigaction previous, current;
    struct sigaction action = {.sa_sigaction = on_urgent, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGURG, &action, &previous);
    sigaction(SIGURG, NULL, &current);
    for (int i = 0; i < URGENT; i++)
        raise(SIGURG);
    burn_cpu(part / 5);

    printf("{\"program\":\"signals\",\"prof_hits\":%d,\"prof_expected\":%.1f,\"foreign_prof\":%d,\"urgent_"
           "raised\":%d,\"urgent_hits\":%d,"
           "\"foreign_urgent\":%d,\"urgent_was_default\":%s,\"urgent_is_own\":%s,\"mask_kept\":%s,"
           "\"functions\":{\"timed_by_its_own_timer\":%.6f,\"compute_in_handler\":%.6f},"
           "\"blocked_thread\":{\"tid\":%ld,\"cpu_s\":%.6f},\"cpu_s\":%.6f,\"wall_s\":%.6f}\n",
           (int)prof_hits, timer_s / (PROF_MICROSECONDS * 1e-6), (int)foreign_prof, URGENT, (int)urgent_hits,
           (int)foreign_urgent, previous.sa_handler == SIG_DFL ? "true" : "false",
           current.sa_sigaction == on_urgent ? "true" : "false", mask_kept ? "true" : "false", timed_s,
           handler_s, blocked_tid, blocked_cpu_s, process_cpu(), wall() - began);
    return urgent_hits == URGENT ? 0 : 1;
}

/* Timers of the program's own, and signals that queue. */
#include "cases.h"

#include <sys/time.h>

void interval_timers(void)
{
    struct itimerval every = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}}, now;
    int kinds[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}, numbers[] = {SIGALRM, SIGVTALRM, SIGPROF};
    for (int i = 0; i < 3; i++) {
        struct sigaction action = {.sa_handler = count_plainly, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        sigaction(numbers[i], &action, NULL);
        double began = wall();
        setitimer(kinds[i], &every, NULL);
        getitimer(kinds[i], &now);
        CHECK_IS(now.it_interval.tv_usec, 10000);
        burn_cpu(0.15);
        setitimer(kinds[i], &never, NULL);
        /* A busy machine delivers fewer; more would be someone else's. */
        CHECK(hits[numbers[i]] >= 1);
        CHECK(hits[numbers[i]] <= (wall() - began) / 0.01 + 2);
    }
}

static volatile int own_value, other_value;

static void checks_value(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_code == SI_TIMER && info->si_value.sival_int == 4711)
        own_value++;
    else
        other_value++;
}

static volatile int notified;

static void notify(union sigval value)
{
    notified += value.sival_int == 4712;
}

void own_timers(void)
{
    int numbers[] = {SIGURG, SIGWINCH, SIGRTMIN + 3};
    struct itimerspec every = {{0, 10000000}, {0, 10000000}};
    for (int i = 0; i < 3; i++) {
        timer_t timer;
        struct sigevent event = {
            .sigev_notify = SIGEV_SIGNAL, .sigev_signo = numbers[i], .sigev_value = {.sival_int = 4711}};
        own_value = other_value = 0;
        handle(numbers[i], checks_value, SA_RESTART);
        CHECK_IS(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer), 0);
        timer_settime(timer, 0, &every, NULL);
        double began = thread_cpu();
        burn_cpu(0.15);
        timer_delete(timer);
        CHECK(own_value >= 1);
        CHECK(own_value <= (thread_cpu() - began) / 0.01 + 2);
        CHECK_IS(other_value, 0);
    }
    timer_t timer;
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD, .sigev_value = {.sival_int = 4712}, .sigev_notify_function = notify};
    CHECK_IS(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &every, NULL);
    double until = wall() + 20;
    while (notified < 3 && wall() < until)
        burn_cpu(0.01);
    timer_delete(timer);
    CHECK(notified >= 3);
}

void queued(void)
{
    int number = SIGRTMIN + 1;
    sigset_t only, before;
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_BLOCK, &only, &before);
    handle(number, count, SA_RESTART);
    for (int i = 0; i < 100; i++)
        sigqueue(getpid(), number, (union sigval){.sival_int = i});
    burn_cpu(0.05);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    CHECK_IS(hits[number], 100);
}

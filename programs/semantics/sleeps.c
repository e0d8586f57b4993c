/* The sleeping family: results, time left, EINTR; and that nobody else's signal ends a sleep. */
#include "cases.h"

#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>

static const struct timespec shortly = {0, SHORTLY_MS * 1000000}, never = {0, 1000000000}, negative = {-1, 0},
                             long_time = {60, 0};

/* Whether the time left can be that of an interrupted sleep of a minute. */
static const char *left_over(const struct timespec *left)
{
    return left->tv_sec >= 0 && left->tv_sec < 60 && (left->tv_sec > 0 || left->tv_nsec > 0) ? "some left"
                                                                                             : "wrong";
}

static void nanosleeps(void)
{
    struct timespec left = {0, 0};
    outcome("nanosleep", "0", "%s", NOT_EARLY(OUT(nanosleep(&shortly, NULL))));
    outcome("nanosleep, no time", "-1 EINVAL", "%s", OUT(nanosleep(&never, NULL)));
    outcome("nanosleep, negative", "-1 EINVAL", "%s", OUT(nanosleep(&negative, NULL)));
    outcome("nanosleep, no pointer", "-1 EFAULT", "%s", OUT(nanosleep(nowhere, NULL)));
    handle(SIGUSR1, count_signal, 0);
    outcome("nanosleep, interrupted", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(nanosleep(&long_time, &left))));
    outcome("nanosleep, time left", "some left", "%s", left_over(&left));
    handle(SIGUSR1, count_signal, SA_RESTART);
    outcome("nanosleep, interrupted with restart", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(nanosleep(&long_time, NULL))));
    handle(SIGUSR1, count_signal, 0);
    errno = 1234;
    nanosleep(&shortly, NULL);
    outcome("nanosleep: errno stays", "1234", "%d", errno);
}

static void clock_nanosleeps(void)
{
    struct timespec left = {7, 7}, past = ahead(CLOCK_MONOTONIC, EARLIER_MS),
                    soon = ahead(CLOCK_MONOTONIC, SHORTLY_MS), later = ahead(CLOCK_MONOTONIC, LATER_MS);
    outcome("clock_nanosleep", "0", "%s",
            NOT_EARLY(ERR(clock_nanosleep(CLOCK_MONOTONIC, 0, &shortly, NULL))));
    outcome("clock_nanosleep, real time", "0", "%s",
            NOT_EARLY(ERR(clock_nanosleep(CLOCK_REALTIME, 0, &shortly, NULL))));
    outcome("clock_nanosleep until, past", "0", "%s",
            ERR(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL)));
    outcome("clock_nanosleep until, soon", "0", "%s",
            ERR(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &soon, NULL)));
    outcome("clock_nanosleep until: not early", "1", "%d", ({
                struct timespec now;
                clock_gettime(CLOCK_MONOTONIC, &now);
                now.tv_sec > soon.tv_sec || (now.tv_sec == soon.tv_sec && now.tv_nsec >= soon.tv_nsec);
            }));
    outcome("clock_nanosleep, own CPU clock", "EINVAL", "%s",
            ERR(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &shortly, NULL)));
    outcome("clock_nanosleep, no clock", "EINVAL", "%s", ERR(clock_nanosleep(999, 0, &shortly, NULL)));
    outcome("clock_nanosleep, no time", "EINVAL", "%s",
            ERR(clock_nanosleep(CLOCK_MONOTONIC, 0, &never, NULL)));
    outcome("clock_nanosleep, interrupted", "EINTR", "%s",
            INTERRUPTED(SIGUSR1, ERR(clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, &left))));
    outcome("clock_nanosleep, time left", "some left", "%s", left_over(&left));
    left = (struct timespec){7, 7};
    outcome("clock_nanosleep until, interrupted", "EINTR", "%s",
            INTERRUPTED(SIGUSR1, ERR(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &later, &left))));
    outcome("clock_nanosleep until: time left is not written", "7", "%ld", (long)left.tv_sec);
    errno = 1234;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &never, NULL);
    outcome("clock_nanosleep: errno stays", "1234", "%d", errno);
}

static void short_forms(void)
{
    outcome("usleep", "0", "%s", NOT_EARLY(OUT(usleep(SHORTLY_MS * 1000))));
    outcome("usleep, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(usleep(60000000))));
    outcome("sleep of nothing", "0", "%u", sleep(0));
    unsigned left = 0;
    outcome("sleep, interrupted", "some left", "%s",
            INTERRUPTED(SIGUSR1, (left = sleep(600), left > 300 && left <= 600 ? "some left" : "wrong")));
    errno = 1234;
    usleep(1000);
    sched_yield();
    outcome("usleep and sched_yield: errno stays", "1234", "%d", errno);
}

/*
 * A sampler's signal that comes at the end of a stretch of work must not end the wait that follows: poll
 * and its kin are never restarted.
 */
static void after_work(void)
{
    enum { TIMES = 60 };
    int failures = 0, ends[2];
    struct timespec millisecond = {0, 1000000};
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (pipe(ends) != 0 || epoll < 0)
        return;
    struct epoll_event wanted = {.events = EPOLLIN}, ready;
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &wanted);
    for (int i = 0; i < TIMES; i++) {
        work(5);
        switch (i % 6) {
        case 0: failures += nanosleep(&millisecond, NULL) != 0; break;
        case 1: failures += poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 1) != 0; break;
        case 2: failures += epoll_wait(epoll, &ready, 1, 1) != 0; break;
        case 3: failures += select(0, NULL, NULL, NULL, &(struct timeval){0, 1000}) != 0; break;
        case 4: failures += clock_nanosleep(CLOCK_MONOTONIC, 0, &millisecond, NULL) != 0; break;
        default: {
            struct timespec until = ahead(CLOCK_REALTIME, 2);
            failures += sem_timedwait(&semaphore, &until) != -1 || errno != ETIMEDOUT;
        }
        }
    }
    close(epoll);
    close(ends[0]);
    close(ends[1]);
    outcome("sleeps after work: ended by others", "0 of 60", "%d of %d", failures, TIMES);
}

void sleeps(void)
{
    nanosleeps();
    clock_nanosleeps();
    short_forms();
    after_work();
}

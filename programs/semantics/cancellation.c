/* Cancellation out of every kind of wait: cleanup runs, mutexes are held again, and what is no cancellation
   point is none. */
#include "cases.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static mtx_t standard_mutex;
static cnd_t standard_condition;
static sem_t semaphore;
static int empty[2], full[2], pair[2], listener, epoll;
static FILE *stream;
static struct worker endless;
static pid_t child;

static struct timespec later(void) { return ahead(CLOCK_REALTIME, LATER_MS); }

static void unlock(void *held)
{
    event("cleanup");
    event(pthread_mutex_unlock(held) == 0 ? "unlocked" : "not held");
}

static void in_cond_wait(void)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
}

static void in_cond_timedwait(void)
{
    struct timespec until = later();
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    while (pthread_cond_timedwait(&condition, &mutex, &until) == 0)
        continue;
    pthread_cleanup_pop(0);
}

static void in_cond_clockwait(void)
{
    struct timespec until = ahead(CLOCK_MONOTONIC, LATER_MS);
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    while (pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until) == 0)
        continue;
    pthread_cleanup_pop(0);
}

static void unlock_standard(void *held)
{
    event("cleanup");
    event(mtx_unlock(held) == thrd_success ? "unlocked" : "not held");
}

static void in_cnd_wait(void)
{
    mtx_lock(&standard_mutex);
    pthread_cleanup_push(unlock_standard, &standard_mutex);
    for (;;)
        cnd_wait(&standard_condition, &standard_mutex);
    pthread_cleanup_pop(0);
}

static char byte, block[65536];

#define UNTIL(name, clock, call)                                                                             \
    static void name(void)                                                                                   \
    {                                                                                                        \
        struct timespec until = ahead(clock, LATER_MS);                                                      \
        call;                                                                                                \
    }
#define SIMPLE(name, call)                                                                                   \
    static void name(void)                                                                                   \
    {                                                                                                        \
        (void)!(call);                                                                                       \
    }
SIMPLE(in_sem_wait, sem_wait(&semaphore))
UNTIL(in_sem_timedwait, CLOCK_REALTIME, sem_timedwait(&semaphore, &until))
UNTIL(in_sem_clockwait, CLOCK_MONOTONIC, sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until))
SIMPLE(in_join, pthread_join(endless.thread, NULL))
UNTIL(in_timedjoin, CLOCK_REALTIME, pthread_timedjoin_np(endless.thread, NULL, &until))
SIMPLE(in_nanosleep, nanosleep(&(struct timespec){60, 0}, NULL))
UNTIL(in_clock_nanosleep, CLOCK_MONOTONIC, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
SIMPLE(in_usleep, usleep(60000000))
SIMPLE(in_sleep, (int)sleep(60))
SIMPLE(in_thrd_sleep, thrd_sleep(&(struct timespec){60, 0}, NULL))
SIMPLE(in_pause, pause())
SIMPLE(in_poll, poll(&(struct pollfd){.fd = empty[0], .events = POLLIN}, 1, -1))
SIMPLE(in_ppoll, ppoll(&(struct pollfd){.fd = empty[0], .events = POLLIN}, 1, NULL, NULL))
SIMPLE(in_select, select(0, NULL, NULL, NULL, NULL))
SIMPLE(in_pselect, pselect(0, NULL, NULL, NULL, NULL, NULL))
SIMPLE(in_epoll_wait, epoll_wait(epoll, &(struct epoll_event){0}, 1, -1))
SIMPLE(in_epoll_pwait, epoll_pwait(epoll, &(struct epoll_event){0}, 1, -1, NULL))
SIMPLE(in_read, read(empty[0], &byte, 1))
SIMPLE(in_readv, readv(empty[0], &(struct iovec){&byte, 1}, 1))
SIMPLE(in_write, write(full[1], block, sizeof block))
SIMPLE(in_writev, writev(full[1], &(struct iovec){block, sizeof block}, 1))
SIMPLE(in_splice, splice(empty[0], NULL, full[1], NULL, 1, 0))
SIMPLE(in_recv, recv(pair[0], &byte, 1, 0))
SIMPLE(in_recvfrom, recvfrom(pair[0], &byte, 1, 0, NULL, NULL))
SIMPLE(in_recvmsg,
       recvmsg(pair[0], &(struct msghdr){.msg_iov = &(struct iovec){&byte, 1}, .msg_iovlen = 1}, 0))
SIMPLE(in_accept, accept(listener, NULL, NULL))
SIMPLE(in_accept4, accept4(listener, NULL, NULL, SOCK_CLOEXEC))
SIMPLE(in_fgetc, fgetc(stream))
SIMPLE(in_waitpid, waitpid(child, NULL, 0))
SIMPLE(in_waitid, waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED))

static sigset_t only(int number)
{
    sigset_t set;
    sigemptyset(&set);
    if (number != 0)
        sigaddset(&set, number);
    return set;
}
static void in_sigwait(void)
{
    sigset_t set = only(SIGUSR2);
    int number;
    sigwait(&set, &number);
}
static void in_sigwaitinfo(void)
{
    sigset_t set = only(SIGUSR2);
    sigwaitinfo(&set, NULL);
}
static void in_sigtimedwait(void)
{
    sigset_t set = only(SIGUSR2);
    sigtimedwait(&set, NULL, &(struct timespec){60, 0});
}
static void in_sigsuspend(void)
{
    sigset_t set = only(0);
    sigsuspend(&set);
}

static const struct point {
    const char *name;
    void (*wait)(void);
    const char *expected;
} points[] = {
#define WITH_LOCK "cleanup unlocked cleaned cancelled"
#define PLAIN "cleaned cancelled"
    {"pthread_cond_wait", in_cond_wait, WITH_LOCK},
    {"pthread_cond_timedwait", in_cond_timedwait, WITH_LOCK},
    {"pthread_cond_clockwait", in_cond_clockwait, WITH_LOCK},
    {"cnd_wait", in_cnd_wait, WITH_LOCK},
    {"sem_wait", in_sem_wait, PLAIN},
    {"sem_timedwait", in_sem_timedwait, PLAIN},
    {"sem_clockwait", in_sem_clockwait, PLAIN},
    {"pthread_join", in_join, PLAIN},
    {"pthread_timedjoin_np", in_timedjoin, PLAIN},
    {"nanosleep", in_nanosleep, PLAIN},
    {"clock_nanosleep", in_clock_nanosleep, PLAIN},
    {"usleep", in_usleep, PLAIN},
    {"sleep", in_sleep, PLAIN},
    {"thrd_sleep", in_thrd_sleep, PLAIN},
    {"pause", in_pause, PLAIN},
    {"poll", in_poll, PLAIN},
    {"ppoll", in_ppoll, PLAIN},
    {"select", in_select, PLAIN},
    {"pselect", in_pselect, PLAIN},
    {"epoll_wait", in_epoll_wait, PLAIN},
    {"epoll_pwait", in_epoll_pwait, PLAIN},
    {"read", in_read, PLAIN},
    {"readv", in_readv, PLAIN},
    {"write", in_write, PLAIN},
    {"writev", in_writev, PLAIN},
    {"splice", in_splice, PLAIN},
    {"recv", in_recv, PLAIN},
    {"recvfrom", in_recvfrom, PLAIN},
    {"recvmsg", in_recvmsg, PLAIN},
    {"accept", in_accept, PLAIN},
    {"accept4", in_accept4, PLAIN},
    {"fgetc", in_fgetc, PLAIN},
    {"sigwait", in_sigwait, PLAIN},
    {"sigwaitinfo", in_sigwaitinfo, PLAIN},
    {"sigtimedwait", in_sigtimedwait, PLAIN},
    {"sigsuspend", in_sigsuspend, PLAIN},
    {"waitpid", in_waitpid, PLAIN},
    {"waitid", in_waitid, PLAIN},
};

static void cleaned(void *argument)
{
    (void)argument;
    event("cleaned");
}

static void *wait_at(void *argument)
{
    const struct point *point = argument;
    pthread_cleanup_push(cleaned, NULL);
    arrive();
    point->wait();
    pthread_cleanup_pop(0);
    event("returned");
    return NULL;
}

/* The cancellation was asked for before the call. */
static void *wait_at_when_told(void *argument)
{
    const struct point *point = argument;
    int old;
    pthread_cleanup_push(cleaned, NULL);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    arrive();
    while (sem_wait(&semaphore) != 0)
        continue;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    point->wait();
    pthread_cleanup_pop(0);
    event("returned");
    return NULL;
}

static void at(const struct point *point, int asked_before)
{
    struct worker worker;
    char name[80];
    start(&worker, asked_before ? wait_at_when_told : wait_at, (void *)point);
    until_asleep(&worker);
    pthread_cancel(worker.thread);
    if (asked_before)
        sem_post(&semaphore);
    event(finish(&worker) == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    snprintf(name, sizeof name, "cancelled %s %s", asked_before ? "before" : "in", point->name);
    outcome(name, point->expected, "%s", events());
}

static void *for_ever(void *argument)
{
    while (!*(atomic_int *)argument)
        usleep(1000);
    return NULL;
}

static int sleep_long(void *argument)
{
    (void)argument;
    for (;;)
        pause();
    return 0;
}

static void all_points(void)
{
    atomic_int end = 0;
    int ends[2];
    sigset_t usr2 = only(SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &usr2, NULL);
    sem_init(&semaphore, 0, 0);
    mtx_init(&standard_mutex, mtx_plain);
    cnd_init(&standard_condition);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    epoll = epoll_create1(0);
    sa_family_t family = AF_UNIX;
    if (pipe(empty) != 0 || pipe(full) != 0 || pipe(ends) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        write(full[1], block, sizeof block) != (ssize_t)sizeof block || epoll < 0 ||
        bind(listener, (struct sockaddr *)&family, sizeof family) != 0 || listen(listener, 1) != 0)
        return;
    stream = fdopen(ends[0], "r");
    child = child_of(sleep_long, NULL);
    start(&endless, for_ever, &end);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        at(&points[i], 0);
    for (size_t i = 0; i < sizeof points / sizeof *points; i += 3)
        at(&points[i], 1);

    /* All that was waited for is as good as before. */
    end = 1;
    outcome("after all: join", "0", "%s", ERR(pthread_join(endless.thread, NULL)));
    outcome("after all: mutex", "0 0", "%s",
            BOTH(ERR(pthread_mutex_trylock(&mutex)), ERR(pthread_mutex_unlock(&mutex))));
    outcome("after all: semaphore", "-1 EAGAIN", "%s", OUT(sem_trywait(&semaphore)));
    outcome("after all: pipe", "1 1", "%s",
            BOTH(OUT(write(empty[1], "x", 1)), OUT(read(empty[0], &byte, 1))));
    outcome("after all: stream", "1 120", "%s", BOTH(OUT(write(ends[1], "x", 1)), OUT(fgetc(stream))));
    kill(child, SIGKILL);
    outcome("after all: child", "1009", "%d", ended(child));
    fclose(stream);
    int open_ones[] = {empty[0], empty[1], full[0], full[1], ends[1], pair[0], pair[1], listener, epoll};
    for (size_t i = 0; i < sizeof open_ones / sizeof *open_ones; i++)
        close(open_ones[i]);
    pthread_sigmask(SIG_UNBLOCK, &usr2, NULL);
}

/* Calls that are no cancellation points finish what they do; the next point then cancels. */
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *lock_then_test(void *argument)
{
    (void)argument;
    arrive();
    pthread_mutex_lock(&mutex);
    event("locked");
    pthread_mutex_unlock(&mutex);
    pthread_testcancel();
    event("went on");
    return NULL;
}

static void *write_then_test(void *argument)
{
    (void)argument;
    arrive();
    pthread_rwlock_wrlock(&rwlock);
    event("locked");
    pthread_rwlock_unlock(&rwlock);
    pthread_testcancel();
    event("went on");
    return NULL;
}

static void *meet_then_test(void *argument)
{
    (void)argument;
    arrive();
    pthread_barrier_wait(&barrier);
    event("met");
    pthread_testcancel();
    event("went on");
    return NULL;
}

static void no_points(void)
{
    struct worker worker;
    pthread_mutex_lock(&mutex);
    start(&worker, lock_then_test, NULL);
    until_asleep(&worker);
    pthread_cancel(worker.thread);
    event("unlocking");
    pthread_mutex_unlock(&mutex);
    event(finish(&worker) == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    outcome("pthread_mutex_lock is no cancellation point", "unlocking locked cancelled", "%s", events());
    pthread_rwlock_wrlock(&rwlock);
    start(&worker, write_then_test, NULL);
    until_asleep(&worker);
    pthread_cancel(worker.thread);
    event("unlocking");
    pthread_rwlock_unlock(&rwlock);
    event(finish(&worker) == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    outcome("pthread_rwlock_wrlock is no cancellation point", "unlocking locked cancelled", "%s", events());
    pthread_barrier_init(&barrier, NULL, 2);
    start(&worker, meet_then_test, NULL);
    until_asleep(&worker);
    pthread_cancel(worker.thread);
    pthread_barrier_wait(&barrier);
    event(finish(&worker) == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    outcome("pthread_barrier_wait is no cancellation point", "met cancelled", "%s", events());
    pthread_barrier_destroy(&barrier);
}

static void *disabled(void *argument)
{
    (void)argument;
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    arrive();
    event(sem_wait(&semaphore) == 0 ? "waited" : "failed");
    event(usleep(1000) == 0 ? "slept" : "failed");
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    pthread_testcancel();
    event("went on");
    return NULL;
}

static void *asynchronous(void *argument)
{
    (void)argument;
    int old;
    pthread_cleanup_push(cleaned, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    arrive();
    for (;;)
        work(1);
    pthread_cleanup_pop(0);
    return NULL;
}

static void states(void)
{
    struct worker worker;
    start(&worker, disabled, NULL);
    until_asleep(&worker);
    pthread_cancel(worker.thread);
    sem_post(&semaphore);
    event(finish(&worker) == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    outcome("cancellation disabled", "waited slept cancelled", "%s", events());
    start(&worker, asynchronous, NULL);
    while (!atomic_load(&worker.arrived))
        usleep(1000);
    pthread_cancel(worker.thread);
    event(finish(&worker) == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    outcome("cancelled at once, while computing", "cleaned cancelled", "%s", events());
    outcome("no such state", "EINVAL", "%s", ERR(pthread_setcancelstate(77, NULL)));
}

void cancellation(void)
{
    all_points();
    no_points();
    states();
}

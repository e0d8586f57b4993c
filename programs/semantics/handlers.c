/* Signal handlers that interrupt a wait and wait, lock, post, or leave by siglongjmp. */
#include "cases.h"

#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

static sigjmp_buf back;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int ends[2];

static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

/* Each waits for ever. */
static void in_nanosleep(void) { nanosleep(&(struct timespec){600, 0}, NULL); }
static void in_sem_wait(void) { sem_wait(&semaphore); }
static void in_sem_timedwait(void)
{
    struct timespec until = ahead(CLOCK_REALTIME, 10 * LATER_MS);
    sem_timedwait(&semaphore, &until);
}
static void in_mutex_lock(void) { pthread_mutex_lock(&held); }
static void in_mutex_timedlock(void)
{
    struct timespec until = ahead(CLOCK_REALTIME, 10 * LATER_MS);
    pthread_mutex_timedlock(&held, &until);
}
static void in_read(void)
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        event("failed");
}
static void in_poll(void) { poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, -1); }
static void in_select(void) { select(0, NULL, NULL, NULL, NULL); }
static void in_pause(void) { pause(); }
static void in_sigwait(void)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigwait(&set, &number);
}
static void in_sigsuspend(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigsuspend(&set);
}

static const struct {
    const char *name;
    void (*wait)(void);
} waits[] = {
    {"siglongjmp out of nanosleep", in_nanosleep},
    {"siglongjmp out of sem_wait", in_sem_wait},
    {"siglongjmp out of sem_timedwait", in_sem_timedwait},
    {"siglongjmp out of pthread_mutex_lock", in_mutex_lock},
    {"siglongjmp out of pthread_mutex_timedlock", in_mutex_timedlock},
    {"siglongjmp out of read", in_read},
    {"siglongjmp out of poll", in_poll},
    {"siglongjmp out of select", in_select},
    {"siglongjmp out of pause", in_pause},
    {"siglongjmp out of sigwait", in_sigwait},
    {"siglongjmp out of sigsuspend", in_sigsuspend},
};

static const char *jumped_out(void (*wait)(void))
{
    interrupt_me(SIGUSR1);
    int jumped = sigsetjmp(back, 1);
    if (!jumped) {
        arrive();
        wait();
    }
    interrupted();
    /* All works as before: a lock, a sleep, a transfer. */
    char byte = 'x';
    int failures = pthread_mutex_lock(&mutex) != 0;
    failures += usleep(1000) != 0;
    failures += pthread_mutex_unlock(&mutex) != 0;
    failures += write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1;
    return jumped && failures == 0 ? "jumped" : "failed";
}

static void *hold_it(void *argument)
{
    pthread_mutex_lock(&held);
    sem_post(argument);
    while (sem_wait((sem_t *)argument + 1) != 0)
        continue;
    pthread_mutex_unlock(&held);
    return NULL;
}

static void jumps(void)
{
    sem_t there_and_back[2];
    struct worker holder;
    sem_init(&there_and_back[0], 0, 0);
    sem_init(&there_and_back[1], 0, 0);
    start(&holder, hold_it, there_and_back);
    while (sem_wait(&there_and_back[0]) != 0)
        continue;
    handle(SIGUSR1, jump, 0);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        outcome(waits[i].name, "jumped", "%s", jumped_out(waits[i].wait));
    sem_post(&there_and_back[1]);
    finish(&holder);
    outcome("a mutex whose waiter jumped away", "0 0", "%s",
            BOTH(ERR(pthread_mutex_lock(&held)), ERR(pthread_mutex_unlock(&held))));
}

static void lock_in_handler(int number)
{
    (void)number;
    int saved = errno;
    event(error_name(pthread_mutex_lock(&mutex)));
    event(error_name(pthread_mutex_unlock(&mutex)));
    event(error_name(pthread_rwlock_rdlock(&rwlock)));
    event(error_name(pthread_rwlock_unlock(&rwlock)));
    errno = saved;
}

static void sleep_in_handler(int number)
{
    (void)number;
    int saved = errno;
    usleep(1000);
    sem_post(&semaphore);
    sem_wait(&semaphore);
    event("slept in handler");
    errno = saved;
}

static void in_handlers(void)
{
    struct timespec long_time = {600, 0};
    handle(SIGUSR1, lock_in_handler, 0);
    outcome("a handler that locks, in nanosleep", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(nanosleep(&long_time, NULL))));
    outcome("a handler that locks: results", "0 0 0 0", "%s", events());
    char byte;
    outcome("a handler that locks, in read", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(read(ends[0], &byte, 1))));
    events();
    handle(SIGUSR1, sleep_in_handler, 0);
    outcome("a handler that waits, in nanosleep", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(nanosleep(&long_time, NULL))));
    outcome("a handler that waits, in poll", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, -1))));
    outcome("handlers that wait: results", "slept in handler slept in handler", "%s", events());
}

/* Handlers that come while the thread does nothing but lock and unlock: another lock, which is never
   contended long. */
static atomic_int stop;
static long in_handler_count;

static void count_under_lock(int number)
{
    (void)number;
    int saved = errno;
    pthread_mutex_lock(&mutex);
    in_handler_count++;
    pthread_mutex_unlock(&mutex);
    sem_post(&semaphore);
    errno = saved;
}

static void *lock_all_the_time(void *argument)
{
    while (!stop) {
        pthread_mutex_lock(&held);
        pthread_mutex_unlock(&held);
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
    return argument;
}

static void while_locking(void)
{
    struct worker workers[2];
    handle(SIGUSR1, count_under_lock, SA_RESTART);
    for (int i = 0; i < 2; i++)
        start(&workers[i], lock_all_the_time, NULL);
    for (int i = 0; i < 200; i++) {
        pthread_kill(workers[i % 2].thread, SIGUSR1);
        while (sem_wait(&semaphore) != 0)
            continue;
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        finish(&workers[i]);
    outcome("handlers that lock, while threads lock", "200", "%ld", in_handler_count);
}

/* A handler that interrupts stdio's and malloc's locks may not use them, but must not disturb them. */
static void *print_all_the_time(void *argument)
{
    FILE *null = fopen("/dev/null", "w");
    long lines = 0;
    while (!stop) {
        free(malloc(100));
        fprintf(null, "%ld\n", lines++);
    }
    fclose(null);
    return argument;
}

static void while_printing(void)
{
    struct worker worker;
    handle(SIGUSR1, count_under_lock, SA_RESTART);
    stop = 0;
    in_handler_count = 0;
    start(&worker, print_all_the_time, NULL);
    for (int i = 0; i < 200; i++) {
        pthread_kill(worker.thread, SIGUSR1);
        while (sem_wait(&semaphore) != 0)
            continue;
    }
    stop = 1;
    finish(&worker);
    outcome("handlers that lock, while a thread prints", "200", "%ld", in_handler_count);
}

void handlers(void)
{
    sem_init(&semaphore, 0, 0);
    if (pipe(ends) != 0)
        return;
    jumps();
    in_handlers();
    while_locking();
    while_printing();
    handle(SIGUSR1, SIG_DFL, 0);
    close(ends[0]);
    close(ends[1]);
}

/* Semaphores: unnamed, shared, named. */
#include "cases.h"

#include <limits.h>
#include <semaphore.h>

static sem_t semaphore;

static int value(void)
{
    int now = -1;
    sem_getvalue(&semaphore, &now);
    return now;
}

static const char *timed(long milliseconds)
{
    struct timespec until = ahead(CLOCK_REALTIME, milliseconds);
    return OUT(sem_timedwait(&semaphore, &until));
}

static const char *clocked(clockid_t clock, long milliseconds)
{
    struct timespec until = ahead(clock, milliseconds);
    return OUT(sem_clockwait(&semaphore, clock, &until));
}

static void counting(void)
{
    struct timespec never = {0, 1000000000};
    outcome("sem init, too much", "-1 EINVAL", "%s",
            OUT(sem_init(&semaphore, 0, (unsigned)SEM_VALUE_MAX + 1)));
    outcome("sem init", "0", "%s", OUT(sem_init(&semaphore, 0, 1)));
    outcome("sem wait", "0", "%s", OUT(sem_wait(&semaphore)));
    outcome("sem trywait at zero", "-1 EAGAIN", "%s", OUT(sem_trywait(&semaphore)));
    outcome("sem timedwait, past", "-1 ETIMEDOUT", "%s", timed(EARLIER_MS));
    outcome("sem timedwait, soon", "-1 ETIMEDOUT", "%s", NOT_EARLY(timed(SHORTLY_MS)));
    outcome("sem timedwait, no time", "-1 EINVAL", "%s", OUT(sem_timedwait(&semaphore, &never)));
    outcome("sem clockwait, past", "-1 ETIMEDOUT", "%s", clocked(CLOCK_MONOTONIC, EARLIER_MS));
    outcome("sem clockwait, soon", "-1 ETIMEDOUT", "%s", NOT_EARLY(clocked(CLOCK_MONOTONIC, SHORTLY_MS)));
    outcome("sem clockwait, CPU clock", "-1 EINVAL", "%s", clocked(CLOCK_THREAD_CPUTIME_ID, LATER_MS));
    outcome("sem post", "0", "%s", OUT(sem_post(&semaphore)));
    outcome("sem post again", "0", "%s", OUT(sem_post(&semaphore)));
    outcome("sem value", "2", "%d", value());
    outcome("sem timedwait when there is one, past", "0", "%s", timed(EARLIER_MS));
    outcome("sem trywait", "0", "%s", OUT(sem_trywait(&semaphore)));
    errno = 1234;
    sem_post(&semaphore);
    sem_wait(&semaphore);
    outcome("sem: errno stays", "1234", "%d", errno);

    sem_t most;
    sem_init(&most, 0, SEM_VALUE_MAX);
    outcome("sem post at the limit", "-1 EOVERFLOW", "%s", OUT(sem_post(&most)));
    outcome("sem destroy", "0", "%s", OUT(sem_destroy(&most)));
}

static void *post_once(void *sleeper)
{
    until_asleep(sleeper);
    event("posting");
    sem_post(&semaphore);
    return NULL;
}

static void *wait_once(void *how)
{
    const char *text;
    arrive();
    switch (*(char *)how) {
    case 'w': text = OUT(sem_wait(&semaphore)); break;
    case 't': text = timed(LATER_MS); break;
    default: text = clocked(CLOCK_MONOTONIC, LATER_MS); break;
    }
    event(strcmp(text, "0") == 0 ? "woken" : "failed");
    return NULL;
}

static const char *woken(const char *how)
{
    struct worker waiter, poster;
    start(&waiter, wait_once, (void *)how);
    start(&poster, post_once, &waiter);
    finish(&waiter);
    finish(&poster);
    return events();
}

static void on_signal_post(int number)
{
    (void)number;
    int saved = errno;
    sem_post(&semaphore);
    errno = saved;
}

static void under_signals(void)
{
    outcome("sem wait, woken", "posting woken", "%s", woken("w"));
    outcome("sem timedwait, woken", "posting woken", "%s", woken("t"));
    outcome("sem clockwait, woken", "posting woken", "%s", woken("c"));

    handled = 0;
    handle(SIGUSR1, count_signal, 0);
    outcome("sem wait, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(sem_wait(&semaphore))));
    outcome("sem timedwait, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, timed(LATER_MS)));
    outcome("sem clockwait, interrupted", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, clocked(CLOCK_MONOTONIC, LATER_MS)));
    outcome("sem: signals handled", "3", "%d", (int)handled);

    /* The handler posts what the interrupted wait then finds. */
    handle(SIGUSR1, on_signal_post, SA_RESTART);
    outcome("sem wait, posted by its handler", "0", "%s", INTERRUPTED(SIGUSR1, OUT(sem_wait(&semaphore))));
    handle(SIGUSR1, on_signal_post, 0);
    outcome("sem wait, interrupted by a posting handler", "-1 EINTR 1", "%s",
            BOTH(INTERRUPTED(SIGUSR1, OUT(sem_wait(&semaphore))), number(value())));
    sem_wait(&semaphore);
}

struct pair {
    sem_t there, back;
};

static int play(void *argument)
{
    struct pair *pair = argument;
    for (int i = 0; i < 100; i++)
        if (sem_wait(&pair->there) != 0 || sem_post(&pair->back) != 0)
            return 1;
    return 0;
}

static void shared(void)
{
    struct pair *pair = shared_memory(sizeof *pair);
    sem_init(&pair->there, 1, 0);
    sem_init(&pair->back, 1, 0);
    pid_t child = child_of(play, pair);
    int failures = 0;
    for (int i = 0; i < 100; i++)
        failures += sem_post(&pair->there) != 0 || sem_wait(&pair->back) != 0;
    outcome("sem shared: a hundred times there and back", "0 failures, 0", "%d failures, %d", failures,
            ended(child));
}

static int post_by_name(void *name)
{
    sem_t *named = sem_open(name, 0);
    return named == SEM_FAILED ? 1 : sem_post(named);
}

static void named(void)
{
    char name[64];
    snprintf(name, sizeof name, "/semantics-%ld", (long)getpid());
    sem_t *mine = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    outcome("sem open", "opened", "%s", mine == SEM_FAILED ? ERR(errno) : "opened");
    if (mine == SEM_FAILED)
        return;
    errno = 0;
    sem_t *second = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    outcome("sem open, exclusive", "EEXIST", "%s", second == SEM_FAILED ? ERR(errno) : "opened");
    outcome("sem open twice is the same", "1", "%d", sem_open(name, 0) == mine);
    pid_t child = child_of(post_by_name, name);
    const char *waited = OUT(sem_wait(mine));
    outcome("sem named: posted by a child", "0 0", "%s %d", waited, ended(child));
    outcome("sem unlink", "0", "%s", OUT(sem_unlink(name)));
    outcome("sem unlink again", "-1 ENOENT", "%s", OUT(sem_unlink(name)));
    errno = 0;
    outcome("sem open of nothing", "ENOENT", "%s", sem_open(name, 0) == SEM_FAILED ? ERR(errno) : "opened");
    outcome("sem close", "0", "%s", OUT(sem_close(mine)));
}

void semaphores(void)
{
    counting();
    under_signals();
    shared();
    named();
}

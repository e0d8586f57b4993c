/* Joining and detaching, and keys with destructors that lock. */
#include "cases.h"

#include <sched.h>

static atomic_int may_end;

static void *until_allowed(void *result)
{
    while (!may_end)
        usleep(1000);
    return result;
}

static void *at_once(void *result) { return result; }

static void *by_exit(void *result)
{
    pthread_exit(result);
    return NULL;
}

static void *join_myself(void *result)
{
    *(int *)result = pthread_join(pthread_self(), NULL);
    return NULL;
}

static void *join_other(void *other)
{
    arrive();
    return (void *)(intptr_t)pthread_join(*(pthread_t *)other, NULL);
}

static int timed(pthread_t thread, void **result, long milliseconds)
{
    struct timespec until = ahead(CLOCK_REALTIME, milliseconds);
    return pthread_timedjoin_np(thread, result, &until);
}

static int clocked(pthread_t thread, void **result, clockid_t clock, long milliseconds)
{
    struct timespec until = ahead(clock, milliseconds);
    return pthread_clockjoin_np(thread, result, clock, &until);
}

static void joins(void)
{
    struct worker worker, joiner;
    void *result = NULL;
    int error = -1;

    start(&worker, at_once, "a");
    outcome("join", "0 a", "%s", BOTH(ERR(pthread_join(worker.thread, &result)), result));
    start(&worker, by_exit, "b");
    outcome("join after pthread_exit", "0 b", "%s", BOTH(ERR(pthread_join(worker.thread, &result)), result));
    start(&worker, join_myself, &error);
    finish(&worker);
    outcome("join of oneself", "EDEADLK", "%s", ERR(error));

    may_end = 0;
    start(&worker, until_allowed, "c");
    outcome("tryjoin of a running thread", "EBUSY", "%s", ERR(pthread_tryjoin_np(worker.thread, &result)));
    outcome("timedjoin, past", "ETIMEDOUT", "%s", ERR(timed(worker.thread, &result, EARLIER_MS)));
    outcome("timedjoin, soon", "ETIMEDOUT", "%s", NOT_EARLY(ERR(timed(worker.thread, &result, SHORTLY_MS))));
    outcome("clockjoin, past", "ETIMEDOUT", "%s",
            ERR(clocked(worker.thread, &result, CLOCK_MONOTONIC, EARLIER_MS)));
    outcome("clockjoin, soon", "ETIMEDOUT", "%s",
            NOT_EARLY(ERR(clocked(worker.thread, &result, CLOCK_MONOTONIC, SHORTLY_MS))));
    outcome("clockjoin, CPU clock", "EINVAL", "%s",
            ERR(clocked(worker.thread, &result, CLOCK_THREAD_CPUTIME_ID, LATER_MS)));
    /* Two joiners, or two that join each other, are undefined, and hang with some versions of the C library.
       */
    start(&joiner, join_other, &worker.thread);
    until_asleep(&joiner);
    may_end = 1;
    outcome("join in a chain", "0", "%s", ERR((int)(intptr_t)finish(&joiner)));

    start(&worker, at_once, "d");
    outcome("timedjoin of one that ends", "0 d", "%s",
            BOTH(ERR(timed(worker.thread, &result, LATER_MS)), result));
    start(&worker, at_once, "e");
    outcome("clockjoin of one that ends", "0 e", "%s",
            BOTH(ERR(clocked(worker.thread, &result, CLOCK_MONOTONIC, LATER_MS)), result));
    start(&worker, at_once, "f");
    while ((error = pthread_tryjoin_np(worker.thread, &result)) == EBUSY)
        usleep(1000);
    outcome("tryjoin of one that ended", "0 f", "%s", BOTH(ERR(error), result));

    may_end = 0;
    /* Nobody knows when it ends: it may not use this function's stack. */
    static struct worker loose;
    start(&loose, until_allowed, NULL);
    outcome("detach", "0", "%s", ERR(pthread_detach(loose.thread)));
    outcome("detach again", "EINVAL", "%s", ERR(pthread_detach(loose.thread)));
    outcome("join of a detached thread", "EINVAL", "%s", ERR(pthread_join(loose.thread, NULL)));
    outcome("timedjoin of a detached thread", "EINVAL", "%s", ERR(timed(loose.thread, NULL, SHORTLY_MS)));
    may_end = 1;
    outcome("yield", "0", "%s", OUT(sched_yield()));
}

static pthread_key_t locking, again;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int destroyed, rounds;

static void lock_at_end(void *value)
{
    pthread_mutex_lock(&mutex);
    destroyed += *(int *)value;
    pthread_mutex_unlock(&mutex);
    usleep(1000);
}

static void set_again(void *value)
{
    rounds++;
    pthread_setspecific(again, value);
}

static void *with_keys(void *value)
{
    pthread_setspecific(locking, value);
    return NULL;
}

static void *with_stubborn_key(void *value)
{
    pthread_setspecific(again, value);
    return NULL;
}

static void keys(void)
{
    struct worker workers[3];
    int one = 1;
    pthread_key_create(&locking, lock_at_end);
    pthread_key_create(&again, set_again);
    for (int i = 0; i < 3; i++)
        start(&workers[i], with_keys, &one);
    for (int i = 0; i < 3; i++)
        finish(&workers[i]);
    outcome("key: destructors that lock and sleep", "3", "%d", destroyed);
    start(&workers[0], with_stubborn_key, &one);
    finish(&workers[0]);
    outcome("key: a destructor that sets its key again", "4", "%d", rounds);
    outcome("key delete", "0", "%s", ERR(pthread_key_delete(again)));
    outcome("key set after it", "EINVAL", "%s", ERR(pthread_setspecific(again, &one)));
    pthread_key_delete(locking);
}

static void attributes(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    outcome("attributes: a stack too small", "EINVAL", "%s", ERR(pthread_attr_setstacksize(&attributes, 16)));
    outcome("attributes: no such state", "EINVAL", "%s", ERR(pthread_attr_setdetachstate(&attributes, 77)));
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    pthread_t thread;
    void *result = NULL;
    outcome("create with a small stack", "0", "%s", ERR(pthread_create(&thread, &attributes, at_once, "g")));
    outcome("join it", "0 g", "%s", BOTH(ERR(pthread_join(thread, &result)), result));
    pthread_attr_destroy(&attributes);
}

void threads_and_keys(void)
{
    joins();
    keys();
    attributes();
}

/* Barriers, and initialisers that run once. */
#include "cases.h"

enum { ROUNDS = 50, PARTIES = 4 };

static pthread_barrier_t barrier;
static atomic_int serial[ROUNDS], passed[ROUNDS], too_early;

static void *meet(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&passed[i], 1);
        int result = pthread_barrier_wait(&barrier);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD)
            atomic_fetch_add(&serial[i], 1);
        else if (result != 0)
            atomic_fetch_add(&serial[i], 100);
        if (atomic_load(&passed[i]) != PARTIES)
            atomic_fetch_add(&too_early, 1);
    }
    return argument;
}

struct shared {
    pthread_barrier_t barrier;
};

static int meet_parent(void *argument)
{
    struct shared *shared = argument;
    int serial_times = 0;
    for (int i = 0; i < 20; i++)
        serial_times += pthread_barrier_wait(&shared->barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    return serial_times;
}

static void *meet_once(void *argument)
{
    (void)argument;
    arrive();
    pthread_barrier_wait(&barrier);
    event("passed");
    return NULL;
}

static void barriers(void)
{
    outcome("barrier init for nobody", "EINVAL", "%s", ERR(pthread_barrier_init(&barrier, NULL, 0)));
    outcome("barrier init", "0", "%s", ERR(pthread_barrier_init(&barrier, NULL, PARTIES)));
    struct worker workers[PARTIES];
    for (int i = 0; i < PARTIES; i++)
        start(&workers[i], meet, NULL);
    for (int i = 0; i < PARTIES; i++)
        finish(&workers[i]);
    int one_each = 0;
    for (int i = 0; i < ROUNDS; i++)
        one_each += serial[i] == 1;
    outcome("barrier: one serial thread a round", "50 of 50, 0 too early", "%d of %d, %d too early", one_each,
            ROUNDS, (int)too_early);
    outcome("barrier destroy", "0", "%s", ERR(pthread_barrier_destroy(&barrier)));

    pthread_barrier_init(&barrier, NULL, 1);
    outcome("barrier for one", "serial", "%s",
            pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD ? "serial" : "not serial");
    pthread_barrier_destroy(&barrier);

    pthread_barrier_init(&barrier, NULL, 2);
    struct worker early;
    start(&early, meet_once, NULL);
    until_asleep(&early);
    event("last one comes");
    errno = 1234;
    pthread_barrier_wait(&barrier);
    int kept = errno;
    finish(&early);
    outcome("barrier: nobody passes before the last", "last one comes passed", "%s", events());
    outcome("barrier: errno stays", "1234", "%d", kept);

    struct shared *shared = shared_memory(sizeof *shared);
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &attributes, 2);
    pid_t child = child_of(meet_parent, shared);
    int serial_times = meet_parent(shared);
    outcome("barrier shared with a child: serial returns", "20", "%d", serial_times + ended(child));
}

static pthread_once_t plain = PTHREAD_ONCE_INIT, outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT,
                      slow = PTHREAD_ONCE_INIT, cancelled = PTHREAD_ONCE_INIT;
static atomic_int plain_runs, slow_may_end, cancelled_runs;

static void run_plain(void) { atomic_fetch_add(&plain_runs, 1); }

static void *once_many(void *argument)
{
    for (int i = 0; i < 100; i++)
        pthread_once(&plain, run_plain);
    return argument;
}

static void run_inner(void) { event("inner"); }
static void run_outer(void)
{
    event("outer begins");
    pthread_once(&inner, run_inner);
    event("outer ends");
}

static void run_slow(void)
{
    event("initialiser begins");
    arrive();
    while (!slow_may_end)
        usleep(1000);
    event("initialiser ends");
}

static void *once_slow(void *what)
{
    pthread_once(&slow, run_slow);
    event(what);
    return NULL;
}

static void *once_waiting(void *argument)
{
    (void)argument;
    arrive();
    pthread_once(&slow, run_slow);
    event("waiter returns");
    return NULL;
}

static void run_cancelled(void)
{
    if (atomic_fetch_add(&cancelled_runs, 1) == 0) {
        arrive();
        pause();
    }
}

static void *once_cancelled(void *argument)
{
    pthread_once(&cancelled, run_cancelled);
    return argument;
}

static void once(void)
{
    struct worker workers[4];
    for (int i = 0; i < 4; i++)
        start(&workers[i], once_many, NULL);
    for (int i = 0; i < 4; i++)
        finish(&workers[i]);
    outcome("once: four threads", "1", "%d", (int)plain_runs);

    outcome("once inside once", "0", "%s", ERR(pthread_once(&outer, run_outer)));
    outcome("once inside once: order", "outer begins inner outer ends", "%s", events());

    struct worker first, second;
    start(&first, once_slow, "first returns");
    while (!atomic_load(&first.arrived))
        usleep(1000);
    start(&second, once_waiting, NULL);
    until_asleep(&second);
    slow_may_end = 1;
    finish(&first);
    finish(&second);
    const char *order = events();
    /* Who of the two returns first is open. */
    int waited = strncmp(order, "initialiser begins initialiser ends ", 36) == 0;
    outcome("once: the second caller waits for the first", "waited", "%s", waited ? "waited" : order);

    start(&first, once_cancelled, NULL);
    until_asleep(&first);
    pthread_cancel(first.thread);
    int was_cancelled = finish(&first) == PTHREAD_CANCELED;
    outcome(
        "once: a cancelled initialiser runs again", "1 0 2", "%s",
        THREE(number(was_cancelled), ERR(pthread_once(&cancelled, run_cancelled)), number(cancelled_runs)));
    errno = 1234;
    pthread_once(&cancelled, run_cancelled);
    outcome("once: errno stays", "1234", "%d", errno);
}

void barriers_and_once(void)
{
    barriers();
    once();
}

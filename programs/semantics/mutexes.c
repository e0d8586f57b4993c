/* Mutexes of every type and protocol. */
#include "cases.h"

static pthread_mutex_t made(int type, int protocol, int robust, int shared)
{
    pthread_mutex_t mutex;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setpshared(&attributes, shared);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return mutex;
}

static int lock(void *mutex) { return pthread_mutex_lock(mutex); }
static int trylock(void *mutex)
{
    int error = pthread_mutex_trylock(mutex);
    if (error == 0)
        pthread_mutex_unlock(mutex);
    return error;
}
static int unlock(void *mutex) { return pthread_mutex_unlock(mutex); }

static int timedlock(void *mutex, long milliseconds)
{
    struct timespec until = ahead(CLOCK_REALTIME, milliseconds);
    return pthread_mutex_timedlock(mutex, &until);
}
static int timedlock_past(void *mutex) { return timedlock(mutex, EARLIER_MS); }
static int timedlock_soon(void *mutex) { return timedlock(mutex, SHORTLY_MS); }
static int timedlock_later(void *mutex) { return timedlock(mutex, LATER_MS); }

static int clocklock(void *mutex, clockid_t clock, long milliseconds)
{
    struct timespec until = ahead(clock, milliseconds);
    return pthread_mutex_clocklock(mutex, clock, &until);
}
static int clocklock_past(void *mutex) { return clocklock(mutex, CLOCK_MONOTONIC, EARLIER_MS); }
static int clocklock_soon(void *mutex) { return clocklock(mutex, CLOCK_MONOTONIC, SHORTLY_MS); }
static int clocklock_real(void *mutex) { return clocklock(mutex, CLOCK_REALTIME, SHORTLY_MS); }
static int clocklock_cpu(void *mutex) { return clocklock(mutex, CLOCK_THREAD_CPUTIME_ID, LATER_MS); }

static int timedlock_bad_time(void *mutex)
{
    struct timespec never = {0, 1000000000};
    return pthread_mutex_timedlock(mutex, &never);
}

struct queue {
    pthread_mutex_t *mutex;
    int error;
};

static void *lock_and_tell(void *argument)
{
    struct queue *queue = argument;
    arrive();
    queue->error = pthread_mutex_lock(queue->mutex);
    event("locked");
    pthread_mutex_unlock(queue->mutex);
    return NULL;
}

static void *timedlock_and_tell(void *argument)
{
    struct queue *queue = argument;
    arrive();
    queue->error = timedlock_later(queue->mutex);
    event("locked");
    pthread_mutex_unlock(queue->mutex);
    return NULL;
}

/* Holds the mutex until the other thread waits for it. */
static const char *handed_over(pthread_mutex_t *mutex, void *(*run)(void *))
{
    struct queue queue = {mutex, -1};
    struct worker worker;
    pthread_mutex_lock(mutex);
    start(&worker, run, &queue);
    until_asleep(&worker);
    event("unlocking");
    pthread_mutex_unlock(mutex);
    finish(&worker);
    event(error_name(queue.error));
    return events();
}

static struct {
    pthread_mutex_t *mutex;
    long sum;
} counter;

static void *count_up(void *argument)
{
    (void)argument;
    for (int i = 0; i < 5000; i++) {
        pthread_mutex_lock(counter.mutex);
        counter.sum++;
        pthread_mutex_unlock(counter.mutex);
    }
    return NULL;
}

static long counted(pthread_mutex_t *mutex)
{
    struct worker workers[4];
    counter.mutex = mutex;
    counter.sum = 0;
    for (int i = 0; i < 4; i++)
        start(&workers[i], count_up, NULL);
    for (int i = 0; i < 4; i++)
        finish(&workers[i]);
    return counter.sum;
}

struct kind {
    const char *name;
    int type, protocol;
    const char *again_try, *again_timed, *unlock_elsewhere, *unlock_free;
};

/* A normal mutex says nothing of who unlocks it; only the kernel knows the owner of a priority-inheriting
   one. */
static const struct kind kinds[] = {
    {"normal", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, "EBUSY", "ETIMEDOUT", "0", NULL},
    {"recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, "0", "0", "EPERM", "EPERM"},
    {"errorcheck", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, "EBUSY", "EDEADLK", "EPERM", "EPERM"},
    {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, "EBUSY", "ETIMEDOUT", "0", NULL},
    {"inherit normal", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, "EBUSY", "ETIMEDOUT", NULL, NULL},
    {"inherit recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_INHERIT, "0", "0", "EPERM", "EPERM"},
    {"inherit errorcheck", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT, "EDEADLK", "EDEADLK", "EPERM",
     "EPERM"},
};

static void of_kind(const struct kind *kind)
{
    char name[80];
#define CASE(what) (snprintf(name, sizeof name, "mutex %s: %s", kind->name, what), name)
    pthread_mutex_t mutex = made(kind->type, kind->protocol, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE);
    outcome(CASE("lock"), "0", "%s", ERR(pthread_mutex_lock(&mutex)));

    int error = pthread_mutex_trylock(&mutex);
    outcome(CASE("trylock by the owner"), kind->again_try, "%s", ERR(error));
    if (error == 0)
        pthread_mutex_unlock(&mutex);
    error = timedlock_soon(&mutex);
    outcome(CASE("timedlock by the owner"), kind->again_timed, "%s", ERR(error));
    if (error == 0)
        pthread_mutex_unlock(&mutex);

    outcome(CASE("trylock by another"), "EBUSY", "%s", ERR(elsewhere(trylock, &mutex)));
    outcome(CASE("timedlock, past"), "ETIMEDOUT", "%s", ERR(elsewhere(timedlock_past, &mutex)));
    outcome(CASE("timedlock, soon"), "ETIMEDOUT", "%s", NOT_EARLY(ERR(elsewhere(timedlock_soon, &mutex))));
    outcome(CASE("timedlock, no time"), "EINVAL", "%s", ERR(elsewhere(timedlock_bad_time, &mutex)));
    if (kind->protocol == PTHREAD_PRIO_NONE) {
        outcome(CASE("clocklock, past"), "ETIMEDOUT", "%s", ERR(elsewhere(clocklock_past, &mutex)));
        outcome(CASE("clocklock, soon"), "ETIMEDOUT", "%s",
                NOT_EARLY(ERR(elsewhere(clocklock_soon, &mutex))));
    }
    outcome(CASE("clocklock, real time"), "ETIMEDOUT", "%s",
            NOT_EARLY(ERR(elsewhere(clocklock_real, &mutex))));
    outcome(CASE("clocklock, CPU clock"), "EINVAL", "%s", ERR(elsewhere(clocklock_cpu, &mutex)));
    outcome(CASE("destroy while held"), "EBUSY", "%s", ERR(pthread_mutex_destroy(&mutex)));
    outcome(CASE("unlock"), "0", "%s", ERR(pthread_mutex_unlock(&mutex)));
    outcome(CASE("trylock when free"), "0", "%s", ERR(elsewhere(trylock, &mutex)));

    if (kind->unlock_elsewhere != NULL) {
        pthread_mutex_lock(&mutex);
        error = elsewhere(unlock, &mutex);
        outcome(CASE("unlock by another"), kind->unlock_elsewhere, "%s", ERR(error));
        if (error != 0)
            pthread_mutex_unlock(&mutex);
    }
    if (kind->unlock_free != NULL)
        outcome(CASE("unlock when free"), kind->unlock_free, "%s", ERR(pthread_mutex_unlock(&mutex)));

    outcome(CASE("handed over"), "unlocking locked 0", "%s", handed_over(&mutex, lock_and_tell));
    outcome(CASE("handed over to timedlock"), "unlocking locked 0", "%s",
            handed_over(&mutex, timedlock_and_tell));
    outcome(CASE("four threads count"), "20000", "%ld", counted(&mutex));
    outcome(CASE("destroy"), "0", "%s", ERR(pthread_mutex_destroy(&mutex)));
#undef CASE
}

static void types(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        of_kind(&kinds[i]);

    pthread_mutex_t checked = made(PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_MUTEX_STALLED, 0);
    pthread_mutex_lock(&checked);
    outcome("mutex errorcheck: lock by the owner", "EDEADLK", "%s", ERR(pthread_mutex_lock(&checked)));
    pthread_mutex_unlock(&checked);

    pthread_mutex_t nested = made(PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_MUTEX_STALLED, 0);
    for (int i = 0; i < 3; i++)
        pthread_mutex_lock(&nested);
    for (int i = 0; i < 3; i++) {
        event(error_name(elsewhere(trylock, &nested)));
        pthread_mutex_unlock(&nested);
    }
    event(error_name(elsewhere(trylock, &nested)));
    outcome("mutex recursive: three deep", "EBUSY EBUSY EBUSY 0", "%s", events());

    static pthread_mutex_t initialised = PTHREAD_MUTEX_INITIALIZER;
    outcome("mutex static: handed over", "unlocking locked 0", "%s",
            handed_over(&initialised, lock_and_tell));

    errno = 1234;
    pthread_mutex_lock(&initialised);
    int busy = pthread_mutex_trylock(&initialised);
    int past = timedlock_past(&initialised);
    pthread_mutex_unlock(&initialised);
    outcome("mutex: errno stays", "EBUSY ETIMEDOUT 1234", "%s %s %d", ERR(busy), ERR(past), errno);

    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    outcome("mutex attributes: no such type", "EINVAL", "%s",
            ERR(pthread_mutexattr_settype(&attributes, 77)));
    outcome("mutex attributes: no such protocol", "EINVAL", "%s",
            ERR(pthread_mutexattr_setprotocol(&attributes, 77)));
}

/* The robust ones: what the next owner is told when the last one died holding it. */
static void robust(void)
{
    pthread_mutex_t mutex = made(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_MUTEX_ROBUST, 0);
    int (*forms[])(void *) = {lock, timedlock_later, trylock, clocklock_soon};
    static const char *const names[] = {"mutex robust: lock after the owner died",
                                        "mutex robust: timedlock after the owner died",
                                        "mutex robust: trylock after the owner died",
                                        "mutex robust: clocklock after the owner died"};
    for (int i = 0; i < 4; i++) {
        elsewhere(lock, &mutex);
        int told = i == 2 ? pthread_mutex_trylock(&mutex) : forms[i](&mutex);
        int consistent = pthread_mutex_consistent(&mutex);
        int unlocked = pthread_mutex_unlock(&mutex);
        outcome(names[i], "EOWNERDEAD 0 0", "%s %s %s", ERR(told), ERR(consistent), ERR(unlocked));
    }
    outcome("mutex robust: as good as new", "0 0", "%s",
            BOTH(ERR(pthread_mutex_lock(&mutex)), ERR(pthread_mutex_unlock(&mutex))));
    outcome("mutex robust: consistent without need", "EINVAL", "%s", ERR(pthread_mutex_consistent(&mutex)));

    elsewhere(lock, &mutex);
    int told = pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    outcome("mutex robust: not made consistent", "EOWNERDEAD ENOTRECOVERABLE ENOTRECOVERABLE ENOTRECOVERABLE",
            "%s",
            FOUR(ERR(told), ERR(pthread_mutex_lock(&mutex)), ERR(timedlock_soon(&mutex)),
                 ERR(pthread_mutex_trylock(&mutex))));
    outcome("mutex robust: destroy", "0", "%s", ERR(pthread_mutex_destroy(&mutex)));

    pthread_mutex_t inherit = made(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST, 0);
    elsewhere(lock, &inherit);
    told = pthread_mutex_lock(&inherit);
    outcome("mutex robust inherit: lock after the owner died", "EOWNERDEAD 0 0", "%s",
            THREE(ERR(told), ERR(pthread_mutex_consistent(&inherit)), ERR(pthread_mutex_unlock(&inherit))));
}

static struct {
    pthread_mutex_t mutex;
    atomic_int may_die;
} dying;

static void *die_holding(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&dying.mutex);
    arrive();
    while (!atomic_load(&dying.may_die))
        usleep(1000);
    return NULL;
}

static void *inherit_it(void *argument)
{
    arrive();
    *(int *)argument = pthread_mutex_lock(&dying.mutex);
    pthread_mutex_consistent(&dying.mutex);
    pthread_mutex_unlock(&dying.mutex);
    return NULL;
}

static void owner_dies_while_others_wait(void)
{
    struct worker owner, heir;
    int told = -1;
    dying.mutex = made(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_MUTEX_ROBUST, 0);
    start(&owner, die_holding, NULL);
    while (!atomic_load(&owner.arrived))
        usleep(1000);
    start(&heir, inherit_it, &told);
    until_asleep(&heir);
    atomic_store(&dying.may_die, 1);
    finish(&owner);
    finish(&heir);
    outcome("mutex robust: the owner dies while another waits", "EOWNERDEAD", "%s", ERR(told));
}

struct shared {
    pthread_mutex_t plain, robust;
    atomic_int held, may_unlock;
};

static int hold_in_child(void *argument)
{
    struct shared *shared = argument;
    int error = pthread_mutex_lock(&shared->plain);
    atomic_store(&shared->held, 1);
    while (!atomic_load(&shared->may_unlock))
        usleep(1000);
    error |= pthread_mutex_unlock(&shared->plain);
    error |= pthread_mutex_lock(&shared->robust);
    raise(SIGKILL);
    return error;
}

static void shared_with_a_child(void)
{
    struct shared *shared = shared_memory(sizeof *shared);
    shared->plain = made(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_SHARED);
    shared->robust = made(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_SHARED);
    pid_t child = child_of(hold_in_child, shared);
    while (!atomic_load(&shared->held))
        usleep(1000);
    int busy = pthread_mutex_trylock(&shared->plain), soon = timedlock_soon(&shared->plain);
    atomic_store(&shared->may_unlock, 1);
    int later = timedlock_later(&shared->plain);
    outcome("mutex shared: held by a child", "EBUSY ETIMEDOUT 0 0", "%s",
            FOUR(ERR(busy), ERR(soon), ERR(later), ERR(pthread_mutex_unlock(&shared->plain))));
    int code = ended(child);
    int told = pthread_mutex_lock(&shared->robust);
    outcome("mutex shared robust: the child was killed holding it", "1009 EOWNERDEAD 0 0", "%s",
            FOUR(number(code), ERR(told), ERR(pthread_mutex_consistent(&shared->robust)),
                 ERR(pthread_mutex_unlock(&shared->robust))));
}

/* A ceiling needs real-time priority, which a user may not have; the attribute itself is checked only. */
static void ceiling(void)
{
    pthread_mutexattr_t attributes;
    int value = -1;
    pthread_mutexattr_init(&attributes);
    outcome("mutex protect: ceiling out of range", "EINVAL", "%s",
            ERR(pthread_mutexattr_setprioceiling(&attributes, 5000)));
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT);
    pthread_mutexattr_setprioceiling(&attributes, 7);
    pthread_mutexattr_getprioceiling(&attributes, &value);
    outcome("mutex protect: ceiling", "7", "%d", value);
}

void mutexes(void)
{
    types();
    robust();
    owner_dies_while_others_wait();
    shared_with_a_child();
    ceiling();
}

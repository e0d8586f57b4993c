/* Reader-writer locks in all forms, and spin locks. */
#include "cases.h"

static int rd(void *lock) { return pthread_rwlock_rdlock(lock); }
static int wr(void *lock) { return pthread_rwlock_wrlock(lock); }
static int then_unlocked(int error, void *lock)
{
    if (error == 0)
        pthread_rwlock_unlock(lock);
    return error;
}
static int tryrd(void *lock) { return then_unlocked(pthread_rwlock_tryrdlock(lock), lock); }
static int trywr(void *lock) { return then_unlocked(pthread_rwlock_trywrlock(lock), lock); }

#define TIMED(name, function, milliseconds)                                                                  \
    static int name(void *lock)                                                                              \
    {                                                                                                        \
        struct timespec until = ahead(CLOCK_REALTIME, milliseconds);                                         \
        return then_unlocked(function(lock, &until), lock);                                                  \
    }
#define CLOCKED(name, function, clock, milliseconds)                                                         \
    static int name(void *lock)                                                                              \
    {                                                                                                        \
        struct timespec until = ahead(clock, milliseconds);                                                  \
        return then_unlocked(function(lock, clock, &until), lock);                                           \
    }
TIMED(timedrd_past, pthread_rwlock_timedrdlock, EARLIER_MS)
TIMED(timedrd_soon, pthread_rwlock_timedrdlock, SHORTLY_MS)
TIMED(timedwr_past, pthread_rwlock_timedwrlock, EARLIER_MS)
TIMED(timedwr_soon, pthread_rwlock_timedwrlock, SHORTLY_MS)
CLOCKED(clockrd_past, pthread_rwlock_clockrdlock, CLOCK_MONOTONIC, EARLIER_MS)
CLOCKED(clockrd_soon, pthread_rwlock_clockrdlock, CLOCK_MONOTONIC, SHORTLY_MS)
CLOCKED(clockwr_past, pthread_rwlock_clockwrlock, CLOCK_MONOTONIC, EARLIER_MS)
CLOCKED(clockwr_soon, pthread_rwlock_clockwrlock, CLOCK_MONOTONIC, SHORTLY_MS)
CLOCKED(clockrd_cpu, pthread_rwlock_clockrdlock, CLOCK_PROCESS_CPUTIME_ID, LATER_MS)
CLOCKED(clockwr_cpu, pthread_rwlock_clockwrlock, CLOCK_PROCESS_CPUTIME_ID, LATER_MS)

static int bad_time(void *lock)
{
    struct timespec never = {0, -1};
    return then_unlocked(pthread_rwlock_timedrdlock(lock, &never), lock);
}

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *read_and_tell(void *what)
{
    arrive();
    int error = pthread_rwlock_rdlock(&lock);
    event(error == 0 ? what : "failed");
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void *write_and_tell(void *what)
{
    arrive();
    int error = pthread_rwlock_wrlock(&lock);
    event(error == 0 ? what : "failed");
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void under_a_writer(void)
{
    outcome("rwlock wrlock", "0", "%s", ERR(pthread_rwlock_wrlock(&lock)));
    outcome("rwlock wrlock by the writer", "EDEADLK", "%s", ERR(pthread_rwlock_wrlock(&lock)));
    outcome("rwlock rdlock by the writer", "EDEADLK", "%s", ERR(pthread_rwlock_rdlock(&lock)));
    outcome("rwlock tryrdlock under a writer", "EBUSY", "%s", ERR(elsewhere(tryrd, &lock)));
    outcome("rwlock trywrlock under a writer", "EBUSY", "%s", ERR(elsewhere(trywr, &lock)));
    outcome("rwlock timedrdlock, past", "ETIMEDOUT", "%s", ERR(elsewhere(timedrd_past, &lock)));
    outcome("rwlock timedrdlock, soon", "ETIMEDOUT", "%s", NOT_EARLY(ERR(elsewhere(timedrd_soon, &lock))));
    outcome("rwlock timedwrlock, past", "ETIMEDOUT", "%s", ERR(elsewhere(timedwr_past, &lock)));
    outcome("rwlock timedwrlock, soon", "ETIMEDOUT", "%s", NOT_EARLY(ERR(elsewhere(timedwr_soon, &lock))));
    outcome("rwlock clockrdlock, past", "ETIMEDOUT", "%s", ERR(elsewhere(clockrd_past, &lock)));
    outcome("rwlock clockrdlock, soon", "ETIMEDOUT", "%s", NOT_EARLY(ERR(elsewhere(clockrd_soon, &lock))));
    outcome("rwlock clockwrlock, past", "ETIMEDOUT", "%s", ERR(elsewhere(clockwr_past, &lock)));
    outcome("rwlock clockwrlock, soon", "ETIMEDOUT", "%s", NOT_EARLY(ERR(elsewhere(clockwr_soon, &lock))));
    outcome("rwlock clockrdlock, CPU clock", "EINVAL", "%s", ERR(elsewhere(clockrd_cpu, &lock)));
    outcome("rwlock clockwrlock, CPU clock", "EINVAL", "%s", ERR(elsewhere(clockwr_cpu, &lock)));
    outcome("rwlock timedrdlock, no time", "EINVAL", "%s", ERR(elsewhere(bad_time, &lock)));
    outcome("rwlock unlock of the writer", "0", "%s", ERR(pthread_rwlock_unlock(&lock)));
}

static void under_readers(void)
{
    outcome("rwlock rdlock", "0", "%s", ERR(pthread_rwlock_rdlock(&lock)));
    outcome("rwlock rdlock again", "0", "%s", ERR(pthread_rwlock_rdlock(&lock)));
    outcome("rwlock tryrdlock under readers", "0", "%s", ERR(elsewhere(tryrd, &lock)));
    outcome("rwlock trywrlock under readers", "EBUSY", "%s", ERR(elsewhere(trywr, &lock)));
    outcome("rwlock timedrdlock under readers", "0", "%s", ERR(elsewhere(timedrd_soon, &lock)));
    outcome("rwlock timedwrlock under readers", "ETIMEDOUT", "%s",
            NOT_EARLY(ERR(elsewhere(timedwr_soon, &lock))));
    pthread_rwlock_unlock(&lock);
    outcome("rwlock trywrlock under the last reader", "EBUSY", "%s", ERR(elsewhere(trywr, &lock)));
    pthread_rwlock_unlock(&lock);
    outcome("rwlock trywrlock when free", "0", "%s", ERR(elsewhere(trywr, &lock)));
}

static void order(void)
{
    struct worker writer, readers[3];
    pthread_rwlock_rdlock(&lock);
    start(&writer, write_and_tell, "writer");
    until_asleep(&writer);
    event("unlocking");
    pthread_rwlock_unlock(&lock);
    finish(&writer);
    outcome("rwlock: a writer behind a reader", "unlocking writer", "%s", events());

    pthread_rwlock_wrlock(&lock);
    for (int i = 0; i < 3; i++)
        start(&readers[i], read_and_tell, "reader");
    for (int i = 0; i < 3; i++)
        until_asleep(&readers[i]);
    event("unlocking");
    pthread_rwlock_unlock(&lock);
    for (int i = 0; i < 3; i++)
        finish(&readers[i]);
    outcome("rwlock: readers behind a writer", "unlocking reader reader reader", "%s", events());

    /* One that prefers writers: a reader that comes after a waiting writer goes after it. */
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_destroy(&lock);
    pthread_rwlock_init(&lock, &attributes);
    pthread_rwlock_rdlock(&lock);
    start(&writer, write_and_tell, "writer");
    until_asleep(&writer);
    event(error_name(elsewhere(tryrd, &lock)));
    start(&readers[0], read_and_tell, "reader");
    until_asleep(&readers[0]);
    event("unlocking");
    pthread_rwlock_unlock(&lock);
    finish(&writer);
    finish(&readers[0]);
    outcome("rwlock that prefers writers", "EBUSY unlocking writer reader", "%s", events());
    outcome("rwlock destroy", "0", "%s", ERR(pthread_rwlock_destroy(&lock)));
    pthread_rwlock_init(&lock, NULL);
}

struct shared {
    pthread_rwlock_t lock;
    atomic_int held, may_unlock;
};

static int write_in_child(void *argument)
{
    struct shared *shared = argument;
    int error = pthread_rwlock_wrlock(&shared->lock);
    atomic_store(&shared->held, 1);
    while (!atomic_load(&shared->may_unlock))
        usleep(1000);
    return error | pthread_rwlock_unlock(&shared->lock);
}

static void shared_with_a_child(void)
{
    struct shared *shared = shared_memory(sizeof *shared);
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(&shared->lock, &attributes);
    pid_t child = child_of(write_in_child, shared);
    while (!atomic_load(&shared->held))
        usleep(1000);
    int busy = tryrd(&shared->lock);
    atomic_store(&shared->may_unlock, 1);
    int locked = pthread_rwlock_rdlock(&shared->lock);
    outcome("rwlock shared: held by a child", "EBUSY 0 0", "%s %s %d", ERR(busy), ERR(locked), ended(child));
}

static pthread_rwlock_t counting = PTHREAD_RWLOCK_INITIALIZER;
static long counted, torn;

static void *read_or_write(void *argument)
{
    static long copy;
    for (int i = 0; i < 3000; i++) {
        if (argument != NULL) {
            pthread_rwlock_wrlock(&counting);
            counted++;
            copy++;
        } else {
            pthread_rwlock_rdlock(&counting);
            if (counted != copy)
                __atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
        }
        pthread_rwlock_unlock(&counting);
    }
    return NULL;
}

static void many(void)
{
    struct worker workers[4];
    for (size_t i = 0; i < 4; i++)
        start(&workers[i], read_or_write, i < 2 ? &workers[i] : NULL);
    for (int i = 0; i < 4; i++)
        finish(&workers[i]);
    outcome("rwlock: two writers and two readers", "6000 written, 0 torn", "%ld written, %ld torn", counted,
            torn);
    errno = 1234;
    pthread_rwlock_rdlock(&counting);
    pthread_rwlock_trywrlock(&counting);
    pthread_rwlock_unlock(&counting);
    outcome("rwlock: errno stays", "1234", "%d", errno);
    outcome("rwlock rdlock elsewhere, by a thread that ends", "0", "%s", ERR(elsewhere(rd, &counting)));
    outcome("rwlock unlock by another than the reader", "0", "%s", ERR(pthread_rwlock_unlock(&counting)));
    outcome("rwlock wrlock elsewhere, by a thread that ends", "0", "%s", ERR(elsewhere(wr, &counting)));
    outcome("rwlock tryrdlock after it", "EBUSY", "%s", ERR(tryrd(&counting)));
}

static pthread_spinlock_t spin;
static long spun;

static int tryspin(void *argument)
{
    (void)argument;
    int error = pthread_spin_trylock(&spin);
    if (error == 0)
        pthread_spin_unlock(&spin);
    return error;
}

static void *spin_up(void *argument)
{
    for (int i = 0; i < 2000; i++) {
        pthread_spin_lock(&spin);
        spun++;
        pthread_spin_unlock(&spin);
    }
    return argument;
}

static void spins(void)
{
    struct worker workers[3];
    outcome("spin init", "0", "%s", ERR(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE)));
    outcome("spin lock", "0", "%s", ERR(pthread_spin_lock(&spin)));
    outcome("spin trylock when held", "EBUSY", "%s", ERR(elsewhere(tryspin, NULL)));
    outcome("spin unlock", "0", "%s", ERR(pthread_spin_unlock(&spin)));
    outcome("spin trylock when free", "0", "%s", ERR(elsewhere(tryspin, NULL)));
    for (int i = 0; i < 3; i++)
        start(&workers[i], spin_up, NULL);
    for (int i = 0; i < 3; i++)
        finish(&workers[i]);
    outcome("spin: three threads count", "6000", "%ld", spun);
    outcome("spin destroy", "0", "%s", ERR(pthread_spin_destroy(&spin)));
}

void rwlocks(void)
{
    under_a_writer();
    under_readers();
    order();
    shared_with_a_child();
    many();
    spins();
}

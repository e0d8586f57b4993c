/* Locks that are held for too long, too often, or for the wrong thing. */
#include "cases.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double until;
static char block[1 << 18];
static int log_file;

/* lock-across-io: two threads write to a file, and wait for its device, under a lock; repaired, each has a
   file. */
KEPT static void append_locked(double *waited)
{
    LOCK_TIMED(&mutex, waited);
    if (pwrite(log_file, block, sizeof block, 0) < 0)
        exit(2);
    pthread_mutex_unlock(&mutex);
}

static void *appender(void *argument)
{
    uint64_t x = 1;
    double waited = 0;
    while (wall() < until) {
        append_locked(&waited);
        BURN(x, 2 * UNIT);
    }
    has_lost(waited);
    kept_result = x;
    return argument;
}

static void *appender_alone(void *argument)
{
    uint64_t x = 1;
    int mine = safe_file();
    while (wall() < until) {
        if (pwrite(mine, block, sizeof block, 0) < 0)
            exit(2);
        BURN(x, 2 * UNIT);
    }
    kept_result = x;
    close(mine);
    return argument;
}

static void two(void *(*run)(void *), double seconds)
{
    until = wall() + seconds;
    start(run, NULL);
    start(run, NULL);
    join_all();
}

static void lock_across_io(double seconds)
{
    log_file = safe_file();
    two(appender, seconds);
    close(log_file);
}

static void lock_across_io_repaired(double seconds) { two(appender_alone, seconds); }

/* lock-across-sleep: a thread waits a moment with the lock in its hands; repaired, it lets it go before. */
KEPT static void pause_locked(double *waited)
{
    LOCK_TIMED(&mutex, waited);
    usleep(2000);
    pthread_mutex_unlock(&mutex);
}

static void *pauser(void *argument)
{
    double waited = 0;
    while (wall() < until) {
        pause_locked(&waited);
        burn_cpu(0.0005);
    }
    has_lost(waited);
    return argument;
}

static void *pauser_free(void *argument)
{
    while (wall() < until) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        usleep(2000);
        burn_cpu(0.0005);
    }
    return argument;
}

static void lock_across_sleep(double seconds) { two(pauser, seconds); }
static void lock_across_sleep_repaired(double seconds) { two(pauser_free, seconds); }

/* hot-section: three threads count under a lock; repaired, each counts on its own and adds it up at the end.
   */
static uint64_t counted;

KEPT static void count_locked(uint64_t value, double *waited)
{
    LOCK_TIMED(&mutex, waited);
    uint64_t x = counted + value;
    BURN(x, 2000);
    counted = x;
    pthread_mutex_unlock(&mutex);
}

static void *counter(void *argument)
{
    uint64_t x = 1;
    double waited = 0;
    while (wall() < until)
        for (int i = 0; i < 200; i++) {
            count_locked(x, &waited);
            BURN(x, 300);
        }
    has_lost(waited);
    kept_result = x;
    return argument;
}

static void *counter_alone(void *argument)
{
    uint64_t x = 1;
    while (wall() < until)
        BURN(x, 460000);
    pthread_mutex_lock(&mutex);
    counted += x;
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void hot_section(double seconds)
{
    until = wall() + seconds;
    for (int i = 0; i < 3; i++)
        start(counter, NULL);
    join_all();
}

static void hot_section_repaired(double seconds)
{
    until = wall() + seconds;
    for (int i = 0; i < 3; i++)
        start(counter_alone, NULL);
    join_all();
}

/* convoy: four threads share one table under one lock; repaired, each part of it has a lock of its own. */
static pthread_mutex_t parts[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

KEPT static void update_table(pthread_mutex_t *lock, double *waited)
{
    LOCK_TIMED(lock, waited);
    WORK_FOR(0.001);
    pthread_mutex_unlock(lock);
}

static void *updater(void *lock)
{
    double waited = 0;
    while (wall() < until) {
        update_table(lock, &waited);
        WORK_FOR(0.0002);
    }
    has_lost(waited);
    return NULL;
}

static void convoy(double seconds)
{
    until = wall() + seconds;
    for (int i = 0; i < 4; i++)
        start(updater, &mutex);
    join_all();
}

static void convoy_repaired(double seconds)
{
    until = wall() + seconds;
    for (int i = 0; i < 4; i++)
        start(updater, &parts[i]);
    join_all();
}

/* long-section: two threads work under the lock; repaired, they work before it and only store under it. */
KEPT static void work_locked(double *waited)
{
    LOCK_TIMED(&mutex, waited);
    WORK_FOR(0.001);
    pthread_mutex_unlock(&mutex);
}

static void *locked_worker(void *argument)
{
    double waited = 0;
    while (wall() < until) {
        work_locked(&waited);
        WORK_FOR(0.0002);
    }
    has_lost(waited);
    return argument;
}

static void *brief_worker(void *argument)
{
    while (wall() < until) {
        burn_cpu(0.005);
        pthread_mutex_lock(&mutex);
        counted++;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void long_section(double seconds) { two(locked_worker, seconds); }
static void long_section_repaired(double seconds) { two(brief_worker, seconds); }

/* lock-spin: two threads spin for a lock that is held for milliseconds; repaired, it is held for a moment
   only. */
static pthread_spinlock_t spin;

KEPT static void work_spinning(double *waited)
{
    double since = wall();
    pthread_spin_lock(&spin);
    *waited += wall() - since;
    burn_cpu(0.003);
    pthread_spin_unlock(&spin);
}

static void *spinning_worker(void *argument)
{
    double waited = 0;
    while (wall() < until) {
        work_spinning(&waited);
        burn_cpu(0.001);
    }
    has_lost(waited);
    return argument;
}

static void *brief_spinner(void *argument)
{
    while (wall() < until) {
        burn_cpu(0.004);
        pthread_spin_lock(&spin);
        counted++;
        pthread_spin_unlock(&spin);
    }
    return argument;
}

static void lock_spin(double seconds)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    two(spinning_worker, seconds);
}

static void lock_spin_repaired(double seconds)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    two(brief_spinner, seconds);
}

const struct finding_case lock_cases[] = {
    {"lock-across-io", lock_across_io, lock_across_io_repaired},
    {"lock-across-sleep", lock_across_sleep, lock_across_sleep_repaired},
    {"hot-section", hot_section, hot_section_repaired},
    {"convoy", convoy, convoy_repaired},
    {"long-section", long_section, long_section_repaired},
    {"lock-spin", lock_spin, lock_spin_repaired},
    {NULL, NULL, NULL},
};

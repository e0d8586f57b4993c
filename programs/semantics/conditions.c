/* Condition variables. Every wait is under a predicate, so that a wake-up for nothing changes no line. */
#include "cases.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int tokens, turn, errors;

static int trylock(void *held)
{
    int error = pthread_mutex_trylock(held);
    if (error == 0)
        pthread_mutex_unlock(held);
    return error;
}

static void *take_a_token(void *what)
{
    pthread_mutex_lock(&mutex);
    while (tokens == 0) {
        arrive();
        errors += pthread_cond_wait(&condition, &mutex) != 0;
    }
    tokens--;
    event(what);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *take_a_token_in_time(void *what)
{
    struct timespec until = ahead(CLOCK_REALTIME, LATER_MS);
    pthread_mutex_lock(&mutex);
    while (tokens == 0) {
        arrive();
        errors += pthread_cond_timedwait(&condition, &mutex, &until) != 0;
    }
    tokens--;
    event(what);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *take_a_token_by_the_clock(void *what)
{
    struct timespec until = ahead(CLOCK_MONOTONIC, LATER_MS);
    pthread_mutex_lock(&mutex);
    while (tokens == 0) {
        arrive();
        errors += pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until) != 0;
    }
    tokens--;
    event(what);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void give(int count, int to_all)
{
    pthread_mutex_lock(&mutex);
    tokens += count;
    event("given");
    if (to_all)
        pthread_cond_broadcast(&condition);
    else
        pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

static const char *woken(void *(*run)(void *))
{
    struct worker worker;
    start(&worker, run, "taken");
    until_asleep(&worker);
    give(1, 0);
    finish(&worker);
    return events();
}

static void waking(void)
{
    outcome("condition wait", "given taken", "%s", woken(take_a_token));
    outcome("condition timedwait", "given taken", "%s", woken(take_a_token_in_time));
    outcome("condition clockwait", "given taken", "%s", woken(take_a_token_by_the_clock));

    struct worker workers[5];
    for (int i = 0; i < 5; i++)
        start(&workers[i], take_a_token, "taken");
    for (int i = 0; i < 5; i++)
        until_asleep(&workers[i]);
    give(5, 1);
    for (int i = 0; i < 5; i++)
        finish(&workers[i]);
    outcome("condition broadcast to five", "given taken taken taken taken taken", "%s", events());

    for (int i = 0; i < 3; i++)
        start(&workers[i], take_a_token, "taken");
    for (int i = 0; i < 3; i++)
        until_asleep(&workers[i]);
    for (int i = 0; i < 3; i++)
        give(1, 0);
    for (int i = 0; i < 3; i++)
        finish(&workers[i]);
    outcome("condition signal to three", "0 tokens left, 0 errors", "%d tokens left, %d errors", tokens,
            errors);
    events();
}

static void *take_a_turn(void *argument)
{
    static const char *const names[] = {"first", "second", "third", "fourth"};
    int mine = (int)(intptr_t)argument;
    pthread_mutex_lock(&mutex);
    while (turn != mine) {
        arrive();
        pthread_cond_wait(&condition, &mutex);
    }
    event(names[mine]);
    turn++;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void turns(void)
{
    struct worker workers[4];
    turn = -1;
    for (int i = 3; i >= 0; i--) {
        start(&workers[i], take_a_turn, (void *)(intptr_t)i);
        until_asleep(&workers[i]);
    }
    pthread_mutex_lock(&mutex);
    turn = 0;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 4; i++)
        finish(&workers[i]);
    outcome("condition: four in turn", "first second third fourth", "%s", events());
}

static const char *timed(long milliseconds)
{
    struct timespec until = ahead(CLOCK_REALTIME, milliseconds);
    int error;
    do
        error = pthread_cond_timedwait(&condition, &mutex, &until);
    while (error == 0);
    return error_name(error);
}

static const char *clocked(clockid_t clock, long milliseconds)
{
    struct timespec until = ahead(clock, milliseconds);
    int error;
    do
        error = pthread_cond_clockwait(&condition, &mutex, clock, &until);
    while (error == 0);
    return error_name(error);
}

static void deadlines(void)
{
    struct timespec never = {0, 1000000000};
    pthread_mutex_lock(&mutex);
    outcome("condition timedwait, past", "ETIMEDOUT", "%s", timed(EARLIER_MS));
    outcome("condition timedwait, soon", "ETIMEDOUT", "%s", NOT_EARLY(timed(SHORTLY_MS)));
    outcome("condition clockwait, past", "ETIMEDOUT", "%s", clocked(CLOCK_MONOTONIC, EARLIER_MS));
    outcome("condition clockwait, soon", "ETIMEDOUT", "%s", NOT_EARLY(clocked(CLOCK_MONOTONIC, SHORTLY_MS)));
    outcome("condition clockwait, CPU clock", "EINVAL", "%s", clocked(CLOCK_THREAD_CPUTIME_ID, LATER_MS));
    outcome("condition timedwait, no time", "EINVAL", "%s",
            ERR(pthread_cond_timedwait(&condition, &mutex, &never)));
    outcome("condition: the mutex is held after a timeout", "EBUSY", "%s", ERR(elsewhere(trylock, &mutex)));
    errno = 1234;
    timed(EARLIER_MS);
    outcome("condition: errno stays", "1234", "%d", errno);
    pthread_mutex_unlock(&mutex);

    pthread_cond_t monotonic;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    outcome("condition attributes: CPU clock", "EINVAL", "%s",
            ERR(pthread_condattr_setclock(&attributes, CLOCK_THREAD_CPUTIME_ID)));
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&monotonic, &attributes);
    pthread_mutex_lock(&mutex);
    struct timespec until = ahead(CLOCK_MONOTONIC, SHORTLY_MS);
    outcome("condition with a monotonic clock, soon", "ETIMEDOUT", "%s",
            NOT_EARLY(ERR(pthread_cond_timedwait(&monotonic, &mutex, &until))));
    pthread_mutex_unlock(&mutex);
    outcome("condition destroy", "0", "%s", ERR(pthread_cond_destroy(&monotonic)));
}

static void misuse(void)
{
    outcome("condition signal without a waiter", "0", "%s", ERR(pthread_cond_signal(&condition)));
    outcome("condition broadcast without a waiter", "0", "%s", ERR(pthread_cond_broadcast(&condition)));
    pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    struct timespec until = ahead(CLOCK_REALTIME, LATER_MS);
    outcome("condition wait without the mutex", "EPERM", "%s", ERR(pthread_cond_wait(&condition, &checked)));
    outcome("condition timedwait without the mutex", "EPERM", "%s",
            ERR(pthread_cond_timedwait(&condition, &checked, &until)));
}

/* A signal's handler never ends a wait with EINTR. */
static int ready;

static void *wait_under_signals(void *argument)
{
    int *failures = argument;
    pthread_mutex_lock(&mutex);
    while (!ready) {
        arrive();
        *failures += pthread_cond_wait(&condition, &mutex) != 0;
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void under_signals(void)
{
    struct worker worker;
    int failures = 0;
    handled = 0;
    handle(SIGUSR1, count_signal, 0);
    start(&worker, wait_under_signals, &failures);
    for (int i = 0; i < 3; i++) {
        until_asleep(&worker);
        pthread_kill(worker.thread, SIGUSR1);
        while (handled <= i)
            usleep(1000);
    }
    until_asleep(&worker);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    finish(&worker);
    outcome("condition wait under three signals", "3 handled, 0 errors", "%d handled, %d errors",
            (int)handled, failures);
}

/* Waiting gives a recursive mutex free, and takes it again. */
static pthread_mutex_t nested = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int nested_ready;

static void *wait_with_recursive(void *argument)
{
    pthread_mutex_lock(&nested);
    while (!nested_ready) {
        arrive();
        pthread_cond_wait(&condition, &nested);
    }
    event(error_name(elsewhere(trylock, &nested)));
    pthread_mutex_unlock(&nested);
    event(error_name(elsewhere(trylock, &nested)));
    return argument;
}

static void recursive(void)
{
    struct worker worker;
    start(&worker, wait_with_recursive, NULL);
    until_asleep(&worker);
    event(error_name(pthread_mutex_lock(&nested)));
    nested_ready = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&nested);
    finish(&worker);
    outcome("condition with a recursive mutex", "0 EBUSY 0", "%s", events());
}

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int from_child, from_parent;
};

static int answer(void *argument)
{
    struct shared *shared = argument;
    int error = pthread_mutex_lock(&shared->mutex);
    shared->from_child = 1;
    error |= pthread_cond_signal(&shared->condition);
    while (!shared->from_parent)
        error |= pthread_cond_wait(&shared->condition, &shared->mutex);
    return error | pthread_mutex_unlock(&shared->mutex);
}

static void shared_with_a_child(void)
{
    struct shared *shared = shared_memory(sizeof *shared);
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condition;
    pthread_mutexattr_init(&of_mutex);
    pthread_condattr_init(&of_condition);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &of_mutex);
    pthread_cond_init(&shared->condition, &of_condition);
    pid_t child = child_of(answer, shared);
    int error = pthread_mutex_lock(&shared->mutex);
    while (!shared->from_child)
        error |= pthread_cond_wait(&shared->condition, &shared->mutex);
    shared->from_parent = 1;
    error |= pthread_cond_signal(&shared->condition);
    error |= pthread_mutex_unlock(&shared->mutex);
    outcome("condition shared with a child", "0 0", "%s %d", ERR(error), ended(child));
}

/* A thousand items through a queue of one. */
static struct {
    int full, sum;
} box;

static void *produce(void *argument)
{
    for (int i = 1; i <= 1000; i++) {
        pthread_mutex_lock(&mutex);
        while (box.full)
            pthread_cond_wait(&condition, &mutex);
        box.full = i;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void *consume(void *argument)
{
    for (int i = 1; i <= 1000; i++) {
        pthread_mutex_lock(&mutex);
        while (!box.full)
            pthread_cond_wait(&condition, &mutex);
        box.sum += box.full;
        box.full = 0;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void queue(void)
{
    struct worker producer, consumer;
    start(&producer, produce, NULL);
    start(&consumer, consume, NULL);
    finish(&producer);
    finish(&consumer);
    outcome("condition: a thousand items", "500500", "%d", box.sum);
}

void conditions(void)
{
    waking();
    turns();
    deadlines();
    misuse();
    under_signals();
    recursive();
    shared_with_a_child();
    queue();
}

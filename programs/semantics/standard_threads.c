/* C11: mtx, cnd, thrd, tss, call_once. */
#include "cases.h"

#include <threads.h>

static const char *name_of(int result)
{
    return result == thrd_success    ? "success"
           : result == thrd_busy     ? "busy"
           : result == thrd_timedout ? "timedout"
           : result == thrd_error    ? "error"
           : result == thrd_nomem    ? "nomem"
                                     : "?";
}

static mtx_t mutex;
static cnd_t condition;
static int tokens;

static int try_it(void *argument)
{
    int result = mtx_trylock(argument);
    if (result == thrd_success)
        mtx_unlock(argument);
    return result;
}

static int timed_past(void *argument)
{
    struct timespec until = ahead(CLOCK_REALTIME, EARLIER_MS);
    return mtx_timedlock(argument, &until);
}

static int timed_soon(void *argument)
{
    struct timespec until = ahead(CLOCK_REALTIME, SHORTLY_MS);
    return mtx_timedlock(argument, &until);
}

static void mutexes_of_c(void)
{
    outcome("mtx init", "success", "%s", name_of(mtx_init(&mutex, mtx_timed)));
    outcome("mtx lock", "success", "%s", name_of(mtx_lock(&mutex)));
    outcome("mtx trylock when held", "busy", "%s", name_of(elsewhere(try_it, &mutex)));
    outcome("mtx timedlock, past", "timedout", "%s", name_of(elsewhere(timed_past, &mutex)));
    outcome("mtx timedlock, soon", "timedout", "%s", NOT_EARLY(name_of(elsewhere(timed_soon, &mutex))));
    outcome("mtx unlock", "success", "%s", name_of(mtx_unlock(&mutex)));
    outcome("mtx trylock when free", "success", "%s", name_of(elsewhere(try_it, &mutex)));
    mtx_t nested;
    mtx_init(&nested, mtx_plain | mtx_recursive);
    outcome("mtx recursive", "success success success", "%s",
            THREE(name_of(mtx_lock(&nested)), name_of(mtx_lock(&nested)), name_of(mtx_trylock(&nested))));
    mtx_unlock(&nested);
    mtx_unlock(&nested);
    event(name_of(elsewhere(try_it, &nested)));
    mtx_unlock(&nested);
    event(name_of(elsewhere(try_it, &nested)));
    outcome("mtx recursive, unlocked", "busy success", "%s", events());
    mtx_destroy(&nested);
}

static void *take(void *what)
{
    mtx_lock(&mutex);
    while (tokens == 0) {
        arrive();
        cnd_wait(&condition, &mutex);
    }
    tokens--;
    event(what);
    mtx_unlock(&mutex);
    return NULL;
}

static void conditions_of_c(void)
{
    struct worker workers[2];
    cnd_init(&condition);
    for (int i = 0; i < 2; i++)
        start(&workers[i], take, "taken");
    for (int i = 0; i < 2; i++)
        until_asleep(&workers[i]);
    mtx_lock(&mutex);
    tokens = 1;
    event("given");
    cnd_signal(&condition);
    mtx_unlock(&mutex);
    mtx_lock(&mutex);
    tokens++;
    cnd_broadcast(&condition);
    mtx_unlock(&mutex);
    for (int i = 0; i < 2; i++)
        finish(&workers[i]);
    outcome("cnd wait", "given taken taken", "%s", events());
    mtx_lock(&mutex);
    struct timespec past = ahead(CLOCK_REALTIME, EARLIER_MS), soon = ahead(CLOCK_REALTIME, SHORTLY_MS);
    outcome("cnd timedwait, past", "timedout", "%s", name_of(cnd_timedwait(&condition, &mutex, &past)));
    outcome("cnd timedwait, soon", "timedout", "%s", name_of(cnd_timedwait(&condition, &mutex, &soon)));
    outcome("cnd: the mutex is held", "busy", "%s", name_of(elsewhere(try_it, &mutex)));
    mtx_unlock(&mutex);
    cnd_destroy(&condition);
    mtx_destroy(&mutex);
}

static int seven(void *argument)
{
    (void)argument;
    return 7;
}

static int by_exit(void *argument)
{
    (void)argument;
    thrd_exit(8);
}

static void threads_of_c(void)
{
    thrd_t thread;
    int result = 0;
    outcome("thrd create", "success", "%s", name_of(thrd_create(&thread, seven, NULL)));
    outcome("thrd join", "success 7", "%s",
            BOTH(name_of(thrd_join(thread, &result)), number(result)));
    thrd_create(&thread, by_exit, NULL);
    thrd_join(thread, &result);
    outcome("thrd exit", "8", "%d", result);
    thrd_create(&thread, seven, NULL);
    outcome("thrd detach", "success", "%s", name_of(thrd_detach(thread)));
    outcome("thrd equal", "1", "%d", thrd_equal(thrd_current(), thrd_current()) != 0);
    struct timespec shortly = {0, SHORTLY_MS * 1000000}, never = {0, 1000000000}, long_time = {60, 0},
                    left = {0, 0};
    outcome("thrd sleep", "0", "%s", NOT_EARLY(OUT(thrd_sleep(&shortly, NULL))));
    outcome("thrd sleep, no time", "-2", "%d", thrd_sleep(&never, NULL));
    handle(SIGUSR1, count_signal, 0);
    outcome("thrd sleep, interrupted", "-1", "%s",
            INTERRUPTED(SIGUSR1, thrd_sleep(&long_time, &left) == -1 ? "-1" : "?"));
    outcome("thrd sleep, time left", "1", "%d", left.tv_sec > 0 && left.tv_sec < 60);
    thrd_yield();
}

static tss_t key;
static atomic_int destroyed;

static void destroy(void *value) { destroyed += *(int *)value; }

static int with_key(void *value)
{
    tss_set(key, value);
    return tss_get(key) == value;
}

static once_flag flag = ONCE_FLAG_INIT;
static atomic_int runs;

static void run_once(void) { runs++; }
static int call_it(void *argument)
{
    (void)argument;
    call_once(&flag, run_once);
    return 0;
}

void standard_threads(void)
{
    mutexes_of_c();
    conditions_of_c();
    threads_of_c();
    int three = 3, result;
    thrd_t thread;
    tss_create(&key, destroy);
    thrd_create(&thread, with_key, &three);
    thrd_join(thread, &result);
    outcome("tss", "1, destroyed 3", "%d, destroyed %d", result, (int)destroyed);
    tss_delete(key);
    thrd_t threads[3];
    for (int i = 0; i < 3; i++)
        thrd_create(&threads[i], call_it, NULL);
    for (int i = 0; i < 3; i++)
        thrd_join(threads[i], NULL);
    outcome("call_once", "1", "%d", (int)runs);
}

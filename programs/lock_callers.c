/*
 * Waits of two lengths for one mutex, in two functions that call it at the same depth of the stack.
 * lock_callers [SECONDS]
 *
 * Another thread takes the mutex, says so, and holds it for about 0.6 or 300 microseconds. Then
 * `short_door` or `long_door` wants it, 60 times the one and once the other.
 *
 * Prints for each function how often it locked and how long that took, by the program's own clock.
 */
#include "truth.h"

#include <pthread.h>
#include <sched.h>

static pthread_mutex_t wanted = PTHREAD_MUTEX_INITIALIZER;
/* Steps for which the mutex is to be held; 0 = nothing is asked. */
static uint64_t asked __attribute__((aligned(64)));
static int is_held __attribute__((aligned(64)));

/* Waits for the other thread, which may have no processor. */
#define UNTIL(condition)                                                                                     \
    for (int looks = 0; !(condition);)                                                                       \
        if (++looks % 1000 == 0)                                                                             \
            sched_yield();

static void *partner(void *argument)
{
    uint64_t own = 1;
    for (;;) {
        uint64_t steps;
        UNTIL((steps = __atomic_load_n(&asked, __ATOMIC_ACQUIRE)) != 0);
        if (steps == UINT64_MAX)
            break;
        __atomic_store_n(&asked, 0, __ATOMIC_RELAXED);
        pthread_mutex_lock(&wanted);
        __atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
        BURN(own, steps);
        pthread_mutex_unlock(&wanted);
    }
    kept_result = own;
    return argument;
}

struct door {
    double seconds;
    long calls;
};

#define DOOR(name)                                                                                           \
    KEPT static void name(struct door *door)                                                                 \
    {                                                                                                        \
        double began = wall();                                                                               \
        pthread_mutex_lock(&wanted);                                                                         \
        door->seconds += wall() - began;                                                                     \
        door->calls++;                                                                                       \
        pthread_mutex_unlock(&wanted);                                                                       \
    }
DOOR(short_door)
DOOR(long_door)

static void have_it_held(uint64_t steps)
{
    __atomic_store_n(&is_held, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&asked, steps, __ATOMIC_RELEASE);
    UNTIL(__atomic_load_n(&is_held, __ATOMIC_ACQUIRE));
}

int main(int argc, char **argv)
{
    double until = wall() + seconds_argument(argc, argv, 1, 1);
    struct door shorter = {0, 0}, longer = {0, 0};
    pthread_t other;
    if (pthread_create(&other, NULL, partner, NULL) != 0)
        return 2;
    while (wall() < until) {
        for (int i = 0; i < 60; i++) {
            have_it_held(400);
            short_door(&shorter);
        }
        have_it_held(200000);
        long_door(&longer);
    }
    __atomic_store_n(&asked, UINT64_MAX, __ATOMIC_RELEASE);
    pthread_join(other, NULL);
    printf("{\"program\":\"lock_callers\",\"doors\":[{\"function\":\"short_door\",\"seconds\":%.6f,"
           "\"calls\":%ld},"
           "{\"function\":\"long_door\",\"seconds\":%.6f,\"calls\":%ld}]}\n",
           shorter.seconds, shorter.calls, longer.seconds, longer.calls);
    return 0;
}

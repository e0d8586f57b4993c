/*
 * A mutex that everybody wants again as soon as it has let it go: three threads, whose sections take 4, 8
 * and 16 microseconds, each in a function of its own.
 * convoy [SECONDS]
 *
 * Prints for each thread tid, name, wall_s, cpu_s; `held` says how often it held the mutex, and how much
 * the others waited meanwhile, all together: each section's length times the mean of how many waited at its
 * begin and at its end.
 */
#include "waited.h"

static pthread_mutex_t wanted = PTHREAD_MUTEX_INITIALIZER;
static double until;
static int waiting;
static uint64_t guarded;

#define MEMBER(section, steps)                                                                               \
    KEPT static void section(double *seconds, unsigned *times)                                               \
    {                                                                                                        \
        __atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);                                                   \
        pthread_mutex_lock(&wanted);                                                                         \
        int others = __atomic_sub_fetch(&waiting, 1, __ATOMIC_RELAXED);                                      \
        double began = wall();                                                                               \
        BURN(guarded, steps);                                                                                \
        others += __atomic_load_n(&waiting, __ATOMIC_RELAXED);                                               \
        *seconds += (wall() - began) * others / 2;                                                           \
        ++*times;                                                                                            \
        pthread_mutex_unlock(&wanted);                                                                       \
    }                                                                                                        \
    static void section##_again(void)                                                                        \
    {                                                                                                        \
        uint64_t own = 1;                                                                                    \
        double seconds = 0;                                                                                  \
        unsigned times = 0;                                                                                  \
        while (wall() < until) {                                                                             \
            section(&seconds, &times);                                                                       \
            BURN(own, 100);                                                                                  \
        }                                                                                                    \
        kept_result = own;                                                                                   \
        mine->held[0] = (struct waited){"mutex", "wanted", LOCK, times, seconds};                            \
    }
MEMBER(short_section, 2600)
MEMBER(medium_section, 5200)
MEMBER(long_section, 10400)

int main(int argc, char **argv)
{
    begin_program("convoy");
    until = wall() + seconds_argument(argc, argv, 1, 1.0);
    struct role members[3];
    start(&members[0], "short", short_section_again);
    start(&members[1], "medium", medium_section_again);
    start(&members[2], "long", long_section_again);
    for (int i = 0; i < 3; i++)
        join(&members[i]);
    end();
    printf("{\"program\":\"convoy\",");
    print_threads();
    printf(",\"cpu_s\":%.6f,\"wall_s\":%.6f}\n", process_cpu(), mine->wall_s);
    return 0;
}

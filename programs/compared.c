/*
 * A fixed amount of work, in versions, for comparing runs.
 * compared [SCALE [THREADS]]
 *
 * Each thread prepares (1 part), solves twice from two places (2 and 4 parts) and stores its result (1
 * part). Built with IMPROVED, the second place solves in half of the steps, results are not stored but
 * packed (1 part), and nothing else is different; with SLOWED, preparing takes four parts. A build with
 * MOVED has the same code on other lines.
 *
 * Prints for each function the CPU seconds that it took by its own clock, all threads together.
 */
#include "truth.h"

#include <pthread.h>

/* Steps of a part, about 40 ms. */
#define PART (UNIT * 2000)

enum { PREPARE, SOLVE, STORE, PACK, FUNCTIONS };
static const char *const names[FUNCTIONS] = {"prepare", "solve", "store_result", "pack_result"};

struct member {
    pthread_t thread;
    double scale, cpu_s[FUNCTIONS];
    uint64_t state;
};

/* So many parts of work, in the function that says so. */
#define WORK(m, parts)                                                                                       \
    do {                                                                                                     \
        uint64_t x = (m)->state;                                                                             \
        BURN(x, (uint64_t)((parts) * (m)->scale * (double)PART));                                            \
        (m)->state = x;                                                                                      \
    } while (0)

#ifdef MOVED
/*
 * This block has no meaning.
 *
 * It only moves
 * what comes
 * after it
 * by some lines.
 */
#endif

KEPT static void prepare(struct member *m)
{
    double begin = thread_cpu();
#ifdef SLOWED
    WORK(m, 4);
#else
    WORK(m, 1);
#endif
    m->cpu_s[PREPARE] += thread_cpu() - begin;
}

KEPT static void solve(struct member *m, double parts)
{
    double begin = thread_cpu();
    WORK(m, parts);
    m->cpu_s[SOLVE] += thread_cpu() - begin;
}

#ifdef IMPROVED
KEPT static void pack_result(struct member *m)
{
    double begin = thread_cpu();
    WORK(m, 1);
    m->cpu_s[PACK] += thread_cpu() - begin;
}
#else
KEPT static void store_result(struct member *m)
{
    double begin = thread_cpu();
    WORK(m, 1);
    m->cpu_s[STORE] += thread_cpu() - begin;
}
#endif

KEPT static void *member(void *argument)
{
    struct member *m = argument;
    prepare(m);
#ifdef MOVED

    /* And so does this, inside of a function. */

#endif
    solve(m, 2);
#ifdef IMPROVED
    solve(m, 2);
    pack_result(m);
#else
    solve(m, 4);
    store_result(m);
#endif
    kept_result = m->state;
    return argument;
}

int main(int argc, char **argv)
{
    static struct member members[64];
    double scale = seconds_argument(argc, argv, 1, 1.0), cpu_s[FUNCTIONS] = {0};
    int threads = argc > 2 ? atoi(argv[2]) : 2;
    if (threads < 1 || threads > 64)
        return 2;
    for (int i = 0; i < threads; i++) {
        members[i].scale = scale;
        pthread_create(&members[i].thread, NULL, member, &members[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(members[i].thread, NULL);
        for (int f = 0; f < FUNCTIONS; f++)
            cpu_s[f] += members[i].cpu_s[f];
    }
    printf("{\"program\":\"compared\"");
    for (int f = 0; f < FUNCTIONS; f++)
        printf(",\"%s\":%.6f", names[f], cpu_s[f]);
    printf(",\"cpu_s\":%.6f}\n", process_cpu());
    return 0;
}

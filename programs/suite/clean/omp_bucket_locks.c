/* Events are sorted into buckets by their energy; each bucket has a lock of its own. */
#include <omp.h>

#include "../suite.h"

enum { BUCKETS = 4096, EVENTS = 350000, KEPT = 16 };

struct bucket {
    omp_lock_t lock;
    long count;
    float kept[KEPT];
};

static struct bucket *buckets;

static NOINLINE double energy(long event)
{
    double seen = refine(event * 7919 % 100003, 500);
    return seen * (event * 104729 % 1000003);
}

static NOINLINE void keep(double energy)
{
    struct bucket *bucket = &buckets[(long)(energy * 7919) % BUCKETS];
    omp_set_lock(&bucket->lock);
    bucket->kept[bucket->count++ % KEPT] = (float)energy;
    omp_unset_lock(&bucket->lock);
}

int main(int argc, char **argv)
{
    long events = (long)EVENTS * processors(), most = 0, sum = 0;
    omp_set_num_threads(threads_asked(argc, argv));
    buckets = calloc(BUCKETS, sizeof *buckets);
    for (int i = 0; i < BUCKETS; i++)
        omp_init_lock(&buckets[i].lock);
#pragma omp parallel for schedule(dynamic, 200)
    for (long event = 0; event < events; event++)
        keep(energy(event));
    for (int i = 0; i < BUCKETS; i++) {
        most = buckets[i].count > most ? buckets[i].count : most;
        sum += buckets[i].count;
        omp_destroy_lock(&buckets[i].lock);
    }
    printf("%ld events, at most %ld in a bucket\n", sum, most);
    free(buckets);
    return 0;
}

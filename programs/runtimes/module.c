/*
 * A library with parallel regions, of which several are built: on runtimes of several names. With EAGER it
 * works in its constructor already, with THREAD_FIRST on a thread of its own before; with OLD_LOCKS it uses
 * the nested locks of before OpenMP 3.0, which are shorter; with MINE it defines two functions of the
 * runtime itself.
 */
#include "checked.h"
#include <pthread.h>
#include <stdlib.h>

#ifdef OLD_LOCKS
struct old_nest_lock {
    int owner, count;
};
#define OLD(name) __asm__(".symver " #name ", " #name "@OMP_1.0")
OLD(omp_init_nest_lock);
OLD(omp_set_nest_lock);
OLD(omp_unset_nest_lock);
OLD(omp_test_nest_lock);
OLD(omp_destroy_nest_lock);

/* Nobody may write behind a lock, nor leave it locked. */
static int old_locks_are_wrong(void)
{
    struct {
        struct old_nest_lock lock;
        long canary[4];
    } place = {.canary = {11, 12, 13, 14}};
    omp_nest_lock_t *lock = (omp_nest_lock_t *)&place.lock;
    long sum = 0;
    omp_init_nest_lock(lock);
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < 100; i++) {
        omp_set_nest_lock(lock);
        omp_set_nest_lock(lock);
        sum += i;
        omp_unset_nest_lock(lock);
        omp_unset_nest_lock(lock);
    }
    int depth = omp_test_nest_lock(lock);
    omp_unset_nest_lock(lock);
    omp_destroy_nest_lock(lock);
    int wrong = depth != 1 || sum != THREADS * 99 * 100 / 2;
    for (int i = 0; i < 4; i++)
        wrong |= place.canary[i] != 11 + i;
    return wrong;
}
#endif

#ifdef MINE
/* Functions of its own under the runtime's names. */
static pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;
static int entered;

void GOMP_critical_start(void)
{
    pthread_mutex_lock(&mine);
    entered++;
}

void GOMP_critical_end(void)
{
    pthread_mutex_unlock(&mine);
}
#endif

#ifdef EAGER
static struct outcome early, early_of_thread;

static void *work_of_thread(void *unused)
{
    early_of_thread = all_constructs();
    return unused;
}

/* Waits for threads that use the runtime, of a region and one of its own, while the library is being loaded.
   */
__attribute__((constructor)) static void begin(void)
{
#ifndef THREAD_FIRST
    early = all_constructs();
#endif
    pthread_t thread;
    pthread_create(&thread, NULL, work_of_thread, NULL);
    pthread_join(thread, NULL);
#ifdef THREAD_FIRST
    early = all_constructs();
#endif
}
#endif

#ifdef ROOT
int work_of_leaf(void);
#endif

#ifdef LEAF
int work_of_leaf(void)
{
    return print_outcome("leaf", all_constructs());
}
#else
int work_of_module(const char *name)
{
    int wrong = 0;
#ifdef EAGER
    wrong +=
        print_outcome("constructor", early) + print_outcome("thread of the constructor", early_of_thread);
#endif
#ifdef OLD_LOCKS
    int is_wrong = old_locks_are_wrong();
    printf("old locks: %s\n", is_wrong ? "WRONG" : "right");
    wrong += is_wrong;
#endif
#ifdef ROOT
    wrong += work_of_leaf();
#endif
    wrong += print_outcome(name, all_constructs());
#ifdef MINE
    printf("entered %d times%s\n", entered, entered == 300 ? "" : " WRONG");
    wrong += entered != 300;
    entered = 0;
#endif
    return wrong;
}
#endif

/* A team of threads lives through the whole run; in each round it takes blocks of a field from a counter. */
#include <pthread.h>

#include "../suite.h"

enum { CELLS = 60000, BLOCK = 500, ROUNDS = 36 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
static int round_number, working, threads, count, next_block;
static double *cells;

static NOINLINE void update(int block, int round)
{
    for (int i = block * BLOCK; i < (block + 1) * BLOCK; i++)
        cells[i] = refine(cells[i] + round % 5, 60);
}

static void *live(void *unused)
{
    for (int round = 1; round <= ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        while (round_number < round)
            pthread_cond_wait(&begun, &lock);
        pthread_mutex_unlock(&lock);
        for (int block; (block = __atomic_fetch_add(&next_block, 1, __ATOMIC_RELAXED)) < count / BLOCK;)
            update(block, round);
        pthread_mutex_lock(&lock);
        if (--working == 0)
            pthread_cond_signal(&ended);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void run_round(int round)
{
    pthread_mutex_lock(&lock);
    working = threads;
    next_block = 0;
    round_number = round;
    pthread_cond_broadcast(&begun);
    while (working > 0)
        pthread_cond_wait(&ended, &lock);
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    threads = threads_asked(argc, argv);
    count = CELLS * processors();
    cells = calloc(count, sizeof *cells);
    pthread_t *team = calloc(threads, sizeof *team);
    for (int i = 0; i < count; i++)
        cells[i] = i % 1009;
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, live, NULL);
    for (int round = 1; round <= ROUNDS; round++)
        run_round(round);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += cells[i];
    printf("%.6f\n", sum);
    free(cells);
    free(team);
    return 0;
}

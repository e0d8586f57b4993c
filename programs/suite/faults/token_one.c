/* Threads decode pictures; a semaphore limits how many of them may decode at a time. */
#include <pthread.h>
#include <semaphore.h>

#include "../suite.h"

static sem_t decoders;
static int pictures_each;

static NOINLINE double fetch(int picture) { return refine(picture, 60000); }

static NOINLINE double decode(double picture) { return refine(picture, 140000); }

static NOINLINE void open_decoders(void)
{
    sem_init(&decoders, 0, 1); /* FAULT: one thread may decode at a time, although nothing is shared */
}

static NOINLINE double show(int picture)
{
    double value = fetch(picture);
    sem_wait(&decoders);
    value = decode(value);
    sem_post(&decoders);
    return value;
}

static void *work(void *argument)
{
    double *sum = argument;
    for (int picture = 0; picture < pictures_each; picture++)
        *sum += show(picture);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    double(*sums)[16] = calloc(threads, sizeof *sums), sum = 0;
    pictures_each = 650 * processors() / threads;
    open_decoders();
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, work, sums[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(team[i], NULL);
        sum += sums[i][0];
    }
    printf("%.6f\n", sum);
    sem_destroy(&decoders);
    free(team);
    free(sums);
    return 0;
}

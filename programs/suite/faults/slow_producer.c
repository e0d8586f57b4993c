/* One thread decodes what all others would work on, and decoding takes longer than the work. */
#include <pthread.h>

#include "../suite.h"

#define ROOM 64

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_items = PTHREAD_COND_INITIALIZER, has_room = PTHREAD_COND_INITIALIZER;
static double items[ROOM];
static int held, is_closed;

static void put(double item)
{
    pthread_mutex_lock(&guard);
    while (held == ROOM)
        pthread_cond_wait(&has_room, &guard);
    items[held++] = item;
    pthread_cond_signal(&has_items);
    pthread_mutex_unlock(&guard);
}

static int get(double *item)
{
    pthread_mutex_lock(&guard);
    while (held == 0 && !is_closed)
        pthread_cond_wait(&has_items, &guard);
    int found = held > 0;
    if (found)
        *item = items[--held];
    pthread_cond_signal(&has_room);
    pthread_mutex_unlock(&guard);
    return found;
}

static void close_queue(void)
{
    pthread_mutex_lock(&guard);
    is_closed = 1;
    pthread_cond_broadcast(&has_items);
    pthread_mutex_unlock(&guard);
}

static NOINLINE double decode(int record)
{
    return refine(record, 60000); /* FAULT: the only producer needs most of the time for each record */
}

static NOINLINE double analyse(double item) { return refine(item, 15000); }

static void *consume(void *sum)
{
    for (double item; get(&item);)
        *(double *)sum += analyse(item);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), records = 2600;
    pthread_t *team = calloc(threads, sizeof *team);
    double *sums = calloc(16 * threads, sizeof *sums), sum = 0;
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, consume, &sums[16 * i]);
    for (int record = 0; record < records; record++)
        put(decode(record));
    close_queue();
    for (int i = 0; i < threads; i++) {
        pthread_join(team[i], NULL);
        sum += sums[16 * i];
    }
    printf("%.6f\n", sum);
    free(team);
    free(sums);
    return 0;
}

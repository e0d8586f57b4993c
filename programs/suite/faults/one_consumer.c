/* Several threads prepare orders quickly; one thread alone books them all and takes longer. */
#include <pthread.h>

#include "../suite.h"

#define ROOM 32

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

static int orders_each;

static NOINLINE double prepare(int order) { return refine(order, 10000); }

static NOINLINE double book(double item)
{
    return refine(item, 40000); /* FAULT: one consumer books the orders of all producers */
}

static void *produce(void *unused)
{
    (void)unused;
    for (int order = 0; order < orders_each; order++)
        put(prepare(order));
    return NULL;
}

static void *consume(void *sum)
{
    for (double item; get(&item);)
        *(double *)sum += book(item);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t booking, *team = calloc(threads, sizeof *team);
    double sum = 0;
    orders_each = 4000 / threads;
    pthread_create(&booking, NULL, consume, &sum);
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, produce, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    close_queue();
    pthread_join(booking, NULL);
    printf("%.3f\n", sum);
    free(team);
    return 0;
}

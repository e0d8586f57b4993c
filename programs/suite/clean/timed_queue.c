/* Scans are sharpened by workers, which wait for them with a limit of time, though they are always woken at
   once. Who puts scans into the list is much faster than they are and waits while it is full. */
#include <pthread.h>

#include "../suite.h"

enum { SCANS = 900, PIXELS = 1200, ROOM = 16, LIMIT_MS = 50 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_filled = PTHREAD_COND_INITIALIZER, has_room = PTHREAD_COND_INITIALIZER;
static int waiting[ROOM], first, count, is_end;
static double sharpness[SCANS];

static struct timespec in_some_time(void)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += LIMIT_MS * 1000000l;
    if (limit.tv_nsec >= 1000000000l) {
        limit.tv_nsec -= 1000000000l;
        limit.tv_sec++;
    }
    return limit;
}

static void put(int scan)
{
    pthread_mutex_lock(&lock);
    while (count == ROOM)
        pthread_cond_wait(&has_room, &lock);
    waiting[(first + count++) % ROOM] = scan;
    pthread_cond_signal(&is_filled);
    pthread_mutex_unlock(&lock);
}

/* The next scan, or -1 when there are no more. */
static int take(void)
{
    int scan = -1;
    pthread_mutex_lock(&lock);
    while (count == 0 && !is_end) {
        struct timespec limit = in_some_time();
        pthread_cond_timedwait(&is_filled, &lock, &limit);
    }
    if (count > 0) {
        scan = waiting[first];
        first = (first + 1) % ROOM;
        count--;
        pthread_cond_signal(&has_room);
    }
    pthread_mutex_unlock(&lock);
    return scan;
}

static NOINLINE double sharpen(int scan)
{
    uint64_t state = 88172645463325252 + (uint64_t)scan * 7919;
    double sum = 0;
    for (int pixel = 0; pixel < PIXELS; pixel++)
        sum += refine((double)(next_random(&state) % 256), 550);
    return sum;
}

static void *work(void *unused)
{
    for (int scan; (scan = take()) >= 0;)
        sharpness[scan] = sharpen(scan);
    return unused;
}

int main(int argc, char **argv)
{
    int asked = threads_asked(argc, argv);
    pthread_t *threads = malloc(sizeof *threads * (size_t)asked);
    double total = 0;
    for (int i = 0; i < asked; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int scan = 0; scan < SCANS; scan++)
        put(scan);
    pthread_mutex_lock(&lock);
    is_end = 1;
    pthread_cond_broadcast(&is_filled);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < asked; i++)
        pthread_join(threads[i], NULL);
    for (int scan = 0; scan < SCANS; scan++)
        total += sharpness[scan];
    printf("%.6f\n", total);
    free(threads);
    return 0;
}

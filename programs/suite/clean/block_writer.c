/* Threads draw strips of a picture into buffers; another thread writes what is ready, in large blocks. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "../suite.h"

#define BYTES (64 << 10)

struct strip {
    struct strip *next;
    int number;
    unsigned char pixels[BYTES];
};

struct list {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct strip *first;
};

static struct list unused = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL};
static struct list ready = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL};
static int strips, next_strip, file;

static void put(struct list *list, struct strip *strip)
{
    pthread_mutex_lock(&list->lock);
    strip->next = list->first;
    list->first = strip;
    pthread_cond_signal(&list->filled);
    pthread_mutex_unlock(&list->lock);
}

static struct strip *take(struct list *list)
{
    pthread_mutex_lock(&list->lock);
    while (list->first == NULL)
        pthread_cond_wait(&list->filled, &list->lock);
    struct strip *strip = list->first;
    list->first = strip->next;
    pthread_mutex_unlock(&list->lock);
    return strip;
}

static NOINLINE void draw_strip(struct strip *strip)
{
    for (int i = 0; i < BYTES; i++)
        strip->pixels[i] = (unsigned char)(100 * refine((strip->number * 31 + i) % 1009, 10));
}

static void *draw(void *unneeded)
{
    int number;
    while ((number = __atomic_fetch_add(&next_strip, 1, __ATOMIC_RELAXED)) < strips) {
        struct strip *strip = take(&unused);
        strip->number = number;
        draw_strip(strip);
        put(&ready, strip);
    }
    return unneeded;
}

static void *write_strips(void *unneeded)
{
    for (int written = 0; written < strips; written++) {
        struct strip *strip = take(&ready);
        if (pwrite(file, strip->pixels, BYTES, (off_t)strip->number * BYTES) != BYTES)
            abort();
        put(&unused, strip);
    }
    return unneeded;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads + 1, sizeof *team);
    file = open(argc > 2 ? argv[2] : "picture", O_RDWR | O_CREAT | O_TRUNC, 0644);
    strips = 700 * processors();
    for (int i = 0; i < 4 * threads; i++)
        put(&unused, malloc(sizeof(struct strip)));
    pthread_create(&team[threads], NULL, write_strips, NULL);
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, draw, NULL);
    for (int i = 0; i <= threads; i++)
        pthread_join(team[i], NULL);
    printf("%ld\n", (long)lseek(file, 0, SEEK_END));
    close(file);
    free(team);
    return 0;
}

/* Threads follow rays through a scene and add each to a picture that all share. */
#include <pthread.h>

#include "../suite.h"

#define WIDTH 256

static double picture[WIDTH];
static pthread_spinlock_t lock;
static int rays, threads;

static NOINLINE double follow(int ray) { return refine(ray, 900); }

/* Light falls off over the pixels beside the one that is hit. */
static NOINLINE void add_ray(int ray, double light)
{
    pthread_spin_lock(&lock); /* FAULT: the tone of the light is computed while the others spin */
    double tone = refine(light, 1500);
    for (int beside = -8; beside <= 8; beside++)
        picture[(ray * 31 + beside + WIDTH) % WIDTH] += tone / (1 + beside * beside);
    pthread_spin_unlock(&lock);
}

static void *trace(void *argument)
{
    for (int ray = (int)(intptr_t)argument; ray < rays; ray += threads)
        add_ray(ray, follow(ray));
    return NULL;
}

int main(int argc, char **argv)
{
    threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    rays = 40000 * processors();
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, trace, (void *)(intptr_t)i);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    double sum = 0;
    for (int pixel = 0; pixel < WIDTH; pixel++)
        sum += picture[pixel];
    printf("%.3f\n", sum);
    free(team);
    return 0;
}

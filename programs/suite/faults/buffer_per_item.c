/* Each picture is decoded into a buffer of its own, which comes from the kernel and goes back to it. */
#include <pthread.h>
#include <sys/mman.h>

#include "../suite.h"

#define BYTES (2 << 20)

static int pictures;

static NOINLINE long decode(int picture)
{
    /* FAULT: mapped and unmapped anew for each picture */
    unsigned char *pixels = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pixels == MAP_FAILED)
        abort();
    long sum = 0;
    for (int i = 0; i < BYTES; i++)
        pixels[i] = (unsigned char)(i * 7 + picture);
    for (int i = 0; i < BYTES; i += 64)
        sum += pixels[i];
    munmap(pixels, BYTES);
    return sum;
}

static void *decode_all(void *sum)
{
    for (int picture = 0; picture < pictures; picture++)
        *(long *)sum += decode(picture);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    long *sums = calloc(16 * threads, sizeof *sums);
    pictures = 1800 * processors() / threads;
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, decode_all, &sums[16 * i]);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    printf("%ld\n", sums[0]);
    free(team);
    free(sums);
    return 0;
}

/* Samples of a recorder are checked, which lie in a file: each thread has a part of it. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "../suite.h"

enum { BLOCK = 4096, BLOCKS = 3000, PASSES = 14, MOST = 64 };

static struct part {
    pthread_t thread;
    const char *path;
    int first, last;
    double sum;
} parts[MOST];

static void record_samples(const char *path)
{
    static uint64_t block[BLOCK / 8];
    uint64_t state = 88172645463325252;
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int number = 0; number < BLOCKS; number++) {
        for (int place = 0; place < BLOCK / 8; place++)
            block[place] = next_random(&state);
        if (write(file, block, BLOCK) != BLOCK)
            exit(1);
    }
    close(file);
}

/* Each pass looks for something else. */
static NOINLINE double check(const uint64_t *samples, int pass)
{
    double sum = 0;
    for (int place = 0; place < BLOCK / 8; place++)
        sum += refine((double)(samples[place] % 1000) + pass, 6);
    return sum;
}

static NOINLINE void *check_part(void *argument)
{
    struct part *part = argument;
    void *block;
    int file = open(part->path, O_RDONLY | O_DIRECT);
    if (file < 0 || posix_memalign(&block, BLOCK, BLOCK) != 0)
        exit(1);
    int blocks = part->last - part->first;
    for (int number = 0; number < PASSES * blocks; number++) {
        off_t place = part->first + number % blocks;
        if (pread(file, block, BLOCK, place * BLOCK) != BLOCK) /* FAULT: waits for the disk each 4 KB */
            exit(1);
        part->sum += check(block, number / blocks);
    }
    close(file);
    free(block);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    const char *path = argc > 2 ? argv[2] : "samples";
    threads = threads > MOST ? MOST : threads;
    record_samples(path);
    double sum = 0;
    for (int number = 0; number < threads; number++) {
        parts[number].path = path;
        parts[number].first = (int)((long)BLOCKS * number / threads);
        parts[number].last = (int)((long)BLOCKS * (number + 1) / threads);
        pthread_create(&parts[number].thread, NULL, check_part, &parts[number]);
    }
    for (int number = 0; number < threads; number++) {
        pthread_join(parts[number].thread, NULL);
        sum += parts[number].sum;
    }
    printf("%.3f\n", sum);
    return 0;
}

/* The main thread reads and parses all samples before any other thread has something to do. */
#include <pthread.h>

#include "../suite.h"

static double *samples;
static int count;

static NOINLINE void load_samples(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        exit(1);
    for (int i = 0; i < count; i++)
        if (fscanf(file, "%lf", &samples[i]) != 1) /* FAULT: one thread parses all */
            exit(1);
    fclose(file);
}

struct share {
    pthread_t thread;
    int begin, end;
    double sum;
};

static void *analyse(void *argument)
{
    struct share *share = argument;
    for (int i = share->begin; i < share->end; i++)
        share->sum += refine(samples[i], 60);
    return NULL;
}

static void write_samples(const char *path)
{
    FILE *file = fopen(path, "w");
    uint64_t state = 4711;
    for (int i = 0; file != NULL && i < count; i++)
        fprintf(file, "%.12f\n", (double)(next_random(&state) % 1000000) / 7);
    if (file != NULL)
        fclose(file);
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    count = 1000000 * processors();
    samples = malloc(sizeof *samples * count);
    if (argc > 3) {
        write_samples(argv[2]);
        return 0;
    }
    load_samples(argc > 2 ? argv[2] : "samples");
    struct share *shares = calloc(threads, sizeof *shares);
    double sum = 0;
    for (int i = 0; i < threads; i++) {
        shares[i].begin = (int)((long)count * i / threads);
        shares[i].end = (int)((long)count * (i + 1) / threads);
        pthread_create(&shares[i].thread, NULL, analyse, &shares[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(shares[i].thread, NULL);
        sum += shares[i].sum;
    }
    printf("%.3f\n", sum);
    free(shares);
    free(samples);
    return 0;
}

/* Each worker binds itself to a processor, as was of use on a machine whose cores have two threads each. */
#include <pthread.h>

#include "../suite.h"

struct worker {
    pthread_t thread;
    int number;
    long items;
    double sum;
};

/* The processor of that number among those which this process may use. */
static int allowed_processor(int number)
{
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && seen++ == number)
            return cpu;
    return 0;
}

static NOINLINE void bind_worker(int number)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(allowed_processor(number / 2 % processors()), &one); /* FAULT: two workers for each processor */
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static NOINLINE double simulate(long item) { return refine(item, 20000); }

static void *work(void *argument)
{
    struct worker *self = argument;
    bind_worker(self->number);
    for (long item = 0; item < self->items; item++)
        self->sum += simulate(item);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    long items = 4000L * processors();
    struct worker *workers = calloc(threads, sizeof *workers);
    for (int i = 0; i < threads; i++) {
        workers[i].number = i;
        workers[i].items = items * (i + 1) / threads - items * i / threads;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    double sum = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        sum += workers[i].sum;
    }
    printf("%.4f\n", sum);
    free(workers);
    return 0;
}

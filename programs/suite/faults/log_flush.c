/* Workers write a line to a common log for each order, and each line goes to the file at once. */
#include <pthread.h>

#include "../suite.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static int orders_each;

static NOINLINE void log_line(int order, double value)
{
    char line[64];
    int length = snprintf(line, sizeof line, "order %d: %.3f\n", order, value);
    pthread_mutex_lock(&guard);
    fwrite(line, length, 1, file);
    fflush(file); /* FAULT: a system call for each line, with the lock held */
    pthread_mutex_unlock(&guard);
}

static NOINLINE double process(int order) { return refine(order, 150); }

static void *work(void *argument)
{
    double *sum = argument;
    for (int order = 0; order < orders_each; order++) {
        double value = process(order);
        log_line(order, value);
        *sum += value;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    double(*sums)[16] = calloc(threads, sizeof *sums), sum = 0;
    file = fopen(argc > 2 ? argv[2] : "log", "w");
    if (file == NULL)
        return 1;
    orders_each = 500000 * processors() / threads;
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, work, sums[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(team[i], NULL);
        sum += sums[i][0];
    }
    fclose(file);
    printf("%.6f\n", sum);
    free(team);
    free(sums);
    return 0;
}

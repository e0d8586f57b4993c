/* Threads read the records of a large file through a window that shows one record at a time. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../suite.h"

enum { RECORD = 8192, RECORDS = 2000 };

static int file, threads, passes;

static NOINLINE double evaluate(const unsigned char *record)
{
    unsigned sum = 0;
    for (int i = 0; i < RECORD; i += 16)
        sum += record[i];
    return refine(sum, 250);
}

static NOINLINE double read_record(int number)
{
    off_t at = (off_t)number * RECORD;
    const unsigned char *record = mmap(NULL, RECORD, PROT_READ, MAP_SHARED, file, at); /* FAULT: each */
    if (record == MAP_FAILED)
        exit(1);
    double value = evaluate(record);
    munmap((void *)record, RECORD);
    return value;
}

static void *scan(void *argument)
{
    long thread = (long)argument;
    double *sum = calloc(1, sizeof *sum);
    for (int pass = 0; pass < passes; pass++)
        for (long number = RECORDS * thread / threads; number < RECORDS * (thread + 1) / threads; number++)
            *sum += read_record(number);
    return sum;
}

int main(int argc, char **argv)
{
    threads = threads_asked(argc, argv);
    passes = 15 * processors();
    file = open("records", O_RDWR | O_CREAT | O_TRUNC, 0600);
    unsigned char *record = calloc(1, RECORD);
    for (int number = 0; number < RECORDS; number++) {
        memset(record, number % 251, RECORD);
        if (write(file, record, RECORD) != RECORD)
            return 1;
    }
    free(record);
    pthread_t *team = calloc(threads, sizeof *team);
    for (long thread = 0; thread < threads; thread++)
        pthread_create(&team[thread], NULL, scan, (void *)thread);
    double sum = 0;
    for (int thread = 0; thread < threads; thread++) {
        void *part;
        pthread_join(team[thread], &part);
        sum += *(double *)part;
        free(part);
    }
    printf("%.4f\n", sum);
    free(team);
    close(file);
    unlink("records");
    return 0;
}

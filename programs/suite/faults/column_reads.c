/* Stations have a column each in a file of rows; threads take bands of columns and read them row by row. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "../suite.h"

enum { ROWS = 2600, BAND = 64, BANDS = 5, ROUNDS = 90 };

static int file, columns, bands;
static int next_band;
static double *results;

static void make_file(const char *path)
{
    uint64_t state = 88172645463325252u;
    double *row = calloc(columns, sizeof *row);
    file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < ROWS; i++) {
        for (int column = 0; column < columns; column++)
            row[column] = next_random(&state) % 1000;
        if (write(file, row, columns * sizeof *row) != (ssize_t)(columns * sizeof *row))
            abort();
    }
    free(row);
}

static NOINLINE void read_band(int band, int row, double *values)
{
    off_t at = ((off_t)row * columns + (off_t)band * BAND) * sizeof *values;
    for (int i = 0; i < BAND; i++)
        if (pread(file, &values[i], 8, at + 8 * i) != 8) /* FAULT: a system call for each value */
            abort();
}

static NOINLINE double add_up(const double *values)
{
    double sum = 0;
    for (int i = 0; i < BAND; i++)
        sum += refine(values[i], ROUNDS);
    return sum;
}

static void *work(void *unused)
{
    double values[BAND];
    for (int band; (band = __atomic_fetch_add(&next_band, 1, __ATOMIC_RELAXED)) < bands;)
        for (int row = 0; row < ROWS; row++) {
            read_band(band, row, values);
            results[band] += add_up(values);
        }
    return unused;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    bands = BANDS * processors();
    columns = bands * BAND;
    results = calloc(bands, sizeof *results);
    make_file(argc > 2 ? argv[2] : "stations");
    pthread_t *team = calloc(threads, sizeof *team);
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    double sum = 0;
    for (int band = 0; band < bands; band++)
        sum += results[band];
    printf("%.6f\n", sum);
    free(team);
    free(results);
    close(file);
    return 0;
}

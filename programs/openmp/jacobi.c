/* A Jacobi iteration with marks: a serial part, a distributed loop that is uneven on purpose, a reduction in
   a critical section, and output by one thread. Each thread times its parts by the wall clock: the
   characteristics follow from these times alone, however loaded the machine is.
   jacobi SECONDS [LATE]: in each step a signal keeps the thread that waits at the barrier for LATE seconds,
   so that it leaves the barrier so much later than the other one. */
#include "../truth.h"

#include "proust.h"

#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

enum { THREADS = 2, STEPS = 10, SIZE = 512, BLOCKS = 48, BLOCK_BYTES = 1 << 20 };

static double a[SIZE][SIZE], b[SIZE][SIZE];
static double loop_s[THREADS], critical_s[THREADS], barrier_s[THREADS], serial_s, sleep_s, io_s;
static double came[STEPS][THREADS], left[STEPS][THREADS];
static double late_s;
static volatile pthread_t waiting;
static volatile sig_atomic_t is_there, is_kept;
static volatile uint64_t sink;

static void keep(int signal_number)
{
    (void)signal_number;
    is_kept = 1;
    const double until = wall() + late_s;
    while (wall() < until) {
    }
}

/* The other thread waits at the barrier, and is kept there, before this one arrives. */
KEPT static void keep_the_other(void)
{
    const struct timespec moment = {0, 2000000};
    while (!is_there)
        sched_yield();
    nanosleep(&moment, NULL);
    is_kept = 0;
    pthread_kill(waiting, SIGUSR1);
    while (!is_kept)
        sched_yield();
    is_there = 0;
}

/* One thread computes the first values; the others are absent. */
KEPT static void setup(double seconds)
{
    const double begin = wall();
    uint64_t x = 1;
    proust_begin("setup", PROUST_NO_NUMBER);
    while (wall() - begin < seconds)
        BURN(x, UNIT);
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            a[i][j] = (double)((i * j + (int)(x & 1)) % 7);
    proust_end("setup", PROUST_NO_NUMBER);
    serial_s += wall() - begin;
    sink = x;
}

KEPT static double relax(int from, int to)
{
    double change = 0;
    for (int i = from; i < to; i++)
        for (int j = 1; j < SIZE - 1; j++) {
            b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;
            change += b[i][j] > a[i][j] ? b[i][j] - a[i][j] : a[i][j] - b[i][j];
        }
    return change;
}

/* Thread 0 has two thirds of the time in the loop, by the clock: the other one waits at the barrier. */
KEPT static int iterate(double seconds, int steps)
{
    double change = 0;
    proust_begin("iterate", PROUST_NO_NUMBER);
#pragma omp parallel num_threads(THREADS)
    {
        const int me = omp_get_thread_num();
        for (int step = 0; step < steps; step++) {
            const double begin = wall(), part = seconds / steps * (me == 0 ? 1.0 : 0.5);
            double own = 0;
            while (wall() - begin < part)
                own = relax(me == 0 ? 1 : SIZE / 2, me == 0 ? SIZE / 2 : SIZE - 1);
            const double computed = wall();
#pragma omp critical
            change += own;
            const double summed = wall();
            if (late_s > 0 && me == 0)
                keep_the_other();
            if (late_s > 0 && me == 1) {
                waiting = pthread_self();
                is_there = 1;
            }
            came[step][me] = wall();
#pragma omp barrier
            left[step][me] = wall();
            loop_s[me] += computed - begin;
            critical_s[me] += summed - computed;
            barrier_s[me] += left[step][me] - summed;
        }
    }
    proust_end("iterate", PROUST_NO_NUMBER);
    return change >= 0;
}

/* One thread writes; nobody else has anything to do. */
KEPT static void output(double seconds)
{
    static char block[BLOCK_BYTES];
    char name[] = "/tmp/jacobi-XXXXXX";
    const int file = mkstemp(name);
    const double begin = wall();
    proust_begin("output", PROUST_NO_NUMBER);
    for (int n = 0; n < BLOCKS; n++) {
        if (pwrite(file, block, sizeof block, (off_t)(n % 4) * BLOCK_BYTES) < 0)
            abort();
    }
    io_s = wall() - begin;
    const struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    const double asleep = wall();
    nanosleep(&pause, NULL);
    sleep_s = wall() - asleep;
    proust_end("output", PROUST_NO_NUMBER);
    close(file);
    unlink(name);
}

/* Over steps and threads, the time from each to the last one. */
static double to_the_last(double times[STEPS][THREADS])
{
    double sum = 0;
    for (int step = 0; step < STEPS; step++) {
        const double difference = times[step][0] - times[step][1];
        sum += difference > 0 ? difference : -difference;
    }
    return sum;
}

int main(int argc, char **argv)
{
    const double seconds = seconds_argument(argc, argv, 1, 1.0);
    late_s = seconds_argument(argc, argv, 2, 0.0);
    signal(SIGUSR1, keep);
#pragma omp parallel num_threads(THREADS)
    sink = (uint64_t)omp_get_thread_num();
    const double begin = wall();
    proust_begin("jacobi", PROUST_NO_NUMBER);
    setup(seconds * 0.4);
    iterate(seconds, STEPS);
    output(seconds * 0.2);
    proust_end("jacobi", PROUST_NO_NUMBER);
    printf("{\"wall_s\":%.6f,\"threads\":%d,\"steps\":%d,\"serial_s\":%.6f,\"io_s\":%.6f,\"sleep_s\":%.6f,"
           "\"synchronization_s\":%.6f,\"variation_s\":%.6f,\"blocks\":%d,\"loop_s\":[%.6f,%.6f],"
           "\"critical_s\":[%.6f,%.6f],\"barrier_s\":[%.6f,%.6f]}\n",
           wall() - begin, THREADS, STEPS, serial_s, io_s, sleep_s, to_the_last(came), to_the_last(left),
           BLOCKS, loop_s[0], loop_s[1], critical_s[0], critical_s[1], barrier_s[0], barrier_s[1]);
    return 0;
}

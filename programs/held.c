/*
 * What is held while others wait for it. Argument 1: which; argument 2: seconds in all.
 *
 *   inside    a thread works in one function while it holds a mutex and in another one while it does not;
 *             the other thread wants the mutex as soon as it is held
 *   readers   four readers take a lock together and let it go one after the other, while a writer waits for
 *             them
 *
 * The threads time themselves. `readers` says for each of them its part of the writer's waits: what it had
 * the lock of them, each moment in equal parts with those who had it, too.
 */
#include "truth.h"

#include <pthread.h>
#include <string.h>

enum { READERS = 4, MOST_ROUNDS = 400 };

static int rounds;
static double each;
static pthread_barrier_t all_come, all_gone;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int is_held;

static double waited, inside, outside, waits_since[MOST_ROUNDS], waits_until[MOST_ROUNDS];
static double reads_since[READERS][MOST_ROUNDS], reads_until[READERS][MOST_ROUNDS];

static void pause_for(double seconds)
{
    struct timespec length = { (time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds)) };
    nanosleep(&length, NULL);
}

KEPT static void inside_section(void)
{
    double since = wall();
    burn_cpu(each);
    inside += wall() - since;
}

KEPT static void outside_section(void)
{
    double since = wall();
    burn_cpu(each);
    outside += wall() - since;
}

KEPT static void hold_the_mutex(void)
{
    pthread_mutex_lock(&mutex);
    is_held = 1;
    inside_section();
    is_held = 0;
    pthread_mutex_unlock(&mutex);
    outside_section();
}

KEPT static void want_the_mutex(void)
{
    while (!is_held)
        pause_for(0.0002);
    double since = wall();
    pthread_mutex_lock(&mutex);
    waited += wall() - since;
    pthread_mutex_unlock(&mutex);
}

static void *holder(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pthread_barrier_wait(&all_come);
        hold_the_mutex();
    }
    return unused;
}

static void *waiter(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pthread_barrier_wait(&all_come);
        want_the_mutex();
    }
    return unused;
}

/* A function for each reader, which reads as many times as long as its number says. */
#define READER(function, number)                                                                             \
    KEPT static void function(int round)                                                                     \
    {                                                                                                        \
        pthread_rwlock_rdlock(&lock);                                                                        \
        reads_since[number][round] = wall();                                                                 \
        pthread_barrier_wait(&all_come);                                                                     \
        pause_for(each *(number + 1));                                                                       \
        reads_until[number][round] = wall();                                                                 \
        pthread_rwlock_unlock(&lock);                                                                        \
    }                                                                                                        \
    static void *run_##function(void *unused)                                                                \
    {                                                                                                        \
        for (int i = 0; i < rounds; i++) {                                                                   \
            function(i);                                                                                     \
            pthread_barrier_wait(&all_gone);                                                                 \
        }                                                                                                    \
        return unused;                                                                                       \
    }

READER(read_one, 0)
READER(read_two, 1)
READER(read_three, 2)
READER(read_four, 3)

static void *writer(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pthread_barrier_wait(&all_come);
        waits_since[i] = wall();
        pthread_rwlock_wrlock(&lock);
        waits_until[i] = wall();
        pthread_rwlock_unlock(&lock);
        pthread_barrier_wait(&all_gone);
    }
    return unused;
}

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* What of the writer's waits each reader held it, in equal parts. They leave in the order of their numbers,
   but for moments that do not matter. */
static void parts_of_readers(double parts[READERS])
{
    for (int i = 0; i < rounds; i++) {
        double at = waits_since[i];
        for (int done = 0; done < READERS; done++) {
            double until = smaller(larger(at, reads_until[done][i]), waits_until[i]);
            for (int reader = done; reader < READERS; reader++)
                parts[reader] += (until - at) / (READERS - done);
            at = until;
        }
    }
}

int main(int argc, char **argv)
{
    int readers = argc > 1 && !strcmp(argv[1], "readers");
    double seconds = seconds_argument(argc, argv, 2, 1);
    each = readers ? 0.01 : 0.02;
    rounds = (int)(seconds / each / (readers ? 4 : 2)) + 1;
    rounds = rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    void *(*run[])(void *) = {run_read_one, run_read_two, run_read_three, run_read_four,
                              writer,       holder,       waiter};
    int first = readers ? 0 : READERS + 1, count = readers ? READERS + 1 : 2;
    pthread_barrier_init(&all_come, NULL, (unsigned)count);
    pthread_barrier_init(&all_gone, NULL, (unsigned)count);
    pthread_t threads[READERS + 1];
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, run[first + i], NULL) != 0)
            return 2;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    double parts[READERS] = { 0 };
    parts_of_readers(parts);
    double writing = 0;
    for (int i = 0; i < rounds; i++)
        writing += waits_until[i] - waits_since[i];
    printf("{\"waited_s\":%.6f,\"inside_s\":%.6f,\"outside_s\":%.6f,\"writer_s\":%.6f,"
           "\"parts_s\":[%.6f,%.6f,%.6f,%.6f]}\n",
           waited, inside, outside, writing, parts[0], parts[1], parts[2], parts[3]);
    return 0;
}

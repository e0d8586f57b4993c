/*
 * What locks and small I/O calls cost: ns per uncontended pair, and the throughput of a contended mutex.
 * lock_speed [SECONDS of all together] [KIND…]
 * KIND: mutex recursive rwlock-read rwlock-write spin trylock signal semaphore once read write contended-2
 * contended-4 steady-2
 *
 * Each figure is the median of many batches; the kinds take turns, so that a slow moment of the machine
 * hits them all. `ns` is per pair (lock and unlock, post and wait) or per call; `low` and `high` are the
 * quartiles. For a contended mutex `ns` is wall time per acquisition, of all threads together, each of
 * which works a little inside and outside of it. steady-2: two threads that each take one mutex about 30
 * 000 times a second and hold it for one fifteenth of the time; `ns` is wall time per acquisition of one
 * thread.
 */
#include "truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

enum { BATCH = 2000, CALLS = 500, MOST_BATCHES = 20000, MOST_THREADS = 4, CONTENDED_PAIRS = 20000,
       STEADY_PAIRS = 600 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_once_t done = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static int zero, null;

static void nothing(void) {}

/* One batch, in seconds. */
#define BATCH_OF(name, times, operation)                                                                     \
    KEPT static double name(void)                                                                            \
    {                                                                                                        \
        double began = wall();                                                                               \
        for (int i = 0; i < (times); i++) {                                                                  \
            operation;                                                                                       \
        }                                                                                                    \
        return wall() - began;                                                                               \
    }
BATCH_OF(with_mutex, BATCH, (pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex)))
BATCH_OF(with_recursive, BATCH, (pthread_mutex_lock(&recursive), pthread_mutex_unlock(&recursive)))
BATCH_OF(with_trylock, BATCH, (pthread_mutex_trylock(&mutex), pthread_mutex_unlock(&mutex)))
BATCH_OF(with_rwlock_read, BATCH, (pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock)))
BATCH_OF(with_rwlock_write, BATCH, (pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock)))
BATCH_OF(with_spin, BATCH, (pthread_spin_lock(&spin), pthread_spin_unlock(&spin)))
BATCH_OF(with_signal, BATCH, pthread_cond_signal(&condition))
BATCH_OF(with_semaphore, BATCH, (sem_post(&semaphore), sem_wait(&semaphore)))
BATCH_OF(with_once, BATCH, pthread_once(&done, nothing))
static char byte;
BATCH_OF(with_read, CALLS, (void)!read(zero, &byte, 1))
BATCH_OF(with_write, CALLS, (void)!write(null, &byte, 1))

/* Threads that live as long as the program: only the batches are measured. They sleep in a barrier in
   between. */
struct crew {
    int threads, pairs;
    uint64_t inside, outside; /* steps of work with the lock, and without it */
    pthread_barrier_t begin, end;
    pthread_t ids[MOST_THREADS];
    atomic_int leave;
};
#define CREW(members, number, with, without)                                                                 \
    {.threads = (members), .pairs = (number), .inside = (with), .outside = (without)}
static struct crew two = CREW(2, CONTENDED_PAIRS, 20, 50), four = CREW(4, CONTENDED_PAIRS, 20, 50);
/* A step takes about 1.1 ns: 2 microseconds with the lock, 31 without. */
static struct crew steady = CREW(2, STEADY_PAIRS, 2000, 28000);
static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static uint64_t guarded;

static void *crew_member(void *argument)
{
    struct crew *crew = argument;
    uint64_t own = 1;
    for (;;) {
        pthread_barrier_wait(&crew->begin);
        if (crew->leave)
            break;
        for (int i = 0; i < crew->pairs; i++) {
            pthread_mutex_lock(&contended);
            BURN(guarded, crew->inside);
            pthread_mutex_unlock(&contended);
            BURN(own, crew->outside);
        }
        pthread_barrier_wait(&crew->end);
    }
    kept_result = own;
    return NULL;
}

static void hire(struct crew *crew)
{
    pthread_barrier_init(&crew->begin, NULL, (unsigned)crew->threads + 1);
    pthread_barrier_init(&crew->end, NULL, (unsigned)crew->threads + 1);
    for (int i = 0; i < crew->threads; i++)
        if (pthread_create(&crew->ids[i], NULL, crew_member, crew) != 0)
            exit(2);
}

static void dismiss(struct crew *crew)
{
    crew->leave = 1;
    pthread_barrier_wait(&crew->begin);
    for (int i = 0; i < crew->threads; i++)
        pthread_join(crew->ids[i], NULL);
}

static double with_crew(struct crew *crew)
{
    double began = wall();
    pthread_barrier_wait(&crew->begin);
    pthread_barrier_wait(&crew->end);
    return wall() - began;
}
static double with_two(void) { return with_crew(&two); }
static double with_four(void) { return with_crew(&four); }
static double with_steady(void) { return with_crew(&steady); }

static struct kind {
    const char *name;
    double (*batch)(void);
    int operations, chosen, batches;
    double *ns;
} kinds[] = {
    {"mutex", with_mutex, BATCH, 0, 0, NULL},
    {"recursive", with_recursive, BATCH, 0, 0, NULL},
    {"trylock", with_trylock, BATCH, 0, 0, NULL},
    {"rwlock-read", with_rwlock_read, BATCH, 0, 0, NULL},
    {"rwlock-write", with_rwlock_write, BATCH, 0, 0, NULL},
    {"spin", with_spin, BATCH, 0, 0, NULL},
    {"signal", with_signal, BATCH, 0, 0, NULL},
    {"semaphore", with_semaphore, BATCH, 0, 0, NULL},
    {"once", with_once, BATCH, 0, 0, NULL},
    {"read", with_read, CALLS, 0, 0, NULL},
    {"write", with_write, CALLS, 0, 0, NULL},
    {"contended-2", with_two, 2 * CONTENDED_PAIRS, 0, 0, NULL},
    {"contended-4", with_four, 4 * CONTENDED_PAIRS, 0, 0, NULL},
    {"steady-2", with_steady, STEADY_PAIRS, 0, 0, NULL},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double began = wall(), seconds = seconds_argument(argc, argv, 1, 1.0);
    for (size_t k = 0; k < KINDS; k++) {
        kinds[k].chosen = argc <= 2;
        for (int i = 2; i < argc; i++)
            kinds[k].chosen |= strcmp(argv[i], kinds[k].name) == 0;
        kinds[k].ns = calloc(MOST_BATCHES, sizeof(double));
        if (kinds[k].ns == NULL)
            return 2;
    }
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&semaphore, 0, 0);
    zero = open("/dev/zero", O_RDONLY);
    null = open("/dev/null", O_WRONLY);
    if (zero < 0 || null < 0)
        return 2;
    hire(&two);
    hire(&four);
    hire(&steady);

    /* The first round is not counted: code and data are not in the caches yet. */
    int counted = 0;
    for (int round = 0; round <= MOST_BATCHES && (round < 3 || wall() - began < seconds); round++) {
        for (size_t k = 0; k < KINDS; k++) {
            if (!kinds[k].chosen)
                continue;
            double batch_s = kinds[k].batch();
            if (round > 0)
                kinds[k].ns[kinds[k].batches++] = batch_s * 1e9 / kinds[k].operations;
        }
        counted = round;
    }
    dismiss(&two);
    dismiss(&four);
    dismiss(&steady);

    printf("{\"program\":\"lock_speed\",\"batches\":%d,\"kinds\":[", counted);
    const char *before = "";
    for (size_t k = 0; k < KINDS; k++) {
        int n = kinds[k].batches;
        if (n == 0)
            continue;
        qsort(kinds[k].ns, (size_t)n, sizeof(double), ascending);
        printf("%s{\"kind\":\"%s\",\"ns\":%.2f,\"low\":%.2f,\"high\":%.2f}", before, kinds[k].name,
               kinds[k].ns[n / 2], kinds[k].ns[n / 4], kinds[k].ns[3 * n / 4]);
        before = ",";
    }
    printf("],\"cpu_s\":%.6f,\"wall_s\":%.6f}\n", process_cpu(), wall() - began);
    return 0;
}

/*
 * What the collector adds to a lock that several threads want, at every ratio of holding to thinking.
 * lock_matrix SECONDS KIND THREADS HOLD,… THINK,… [BATCH]
 * KIND: mutex spin rwlock-write. HOLD and THINK: nanoseconds for which a thread has the lock and then does
 * without it. BATCH: about how long a batch takes, milliseconds. Threads that come and go in step need some
 * to fall into it: in batches of 1.5 ms most locks look alike.
 *
 * Each cell of the matrix runs in four batches, in turn: one calls the C library's own functions, found in
 * the library itself; one what the program's calls are bound to, which under a collector are its hooks; one
 * functions that do nothing but call the library's, as every hook that sees the end of a call must; one
 * functions that try first and, if the lock is taken, read the processor's counter before and after they
 * wait, as every tool that times waits must. Threads, lock, memory and sampling are the same in all. Without
 * a collector the first two are the same functions, and their ratios show the noise.
 *
 * Prints for each cell: bare_ns, called_ns and wrapped_ns, wall time per acquisition of all threads together,
 * medians; ratio, the median of called to bare batches of a turn, with low and high, its quartiles; total,
 * the ratio of all time; wrapped_ratio, wrapped_low and wrapped_high, likewise of wrapped to bare ones, and
 * timed_ratio, timed_low and timed_high of timed ones; bare_sleeps and called_sleeps, voluntary context
 * switches per 1000 acquisitions.
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

enum { MOST_THREADS = 16, MOST_TIMES = 16, MOST_TURNS = 4000 };
enum { BARE, CALLED, WRAPPED, TIMED, WAYS };

/* How long a batch takes, about, if the threads take turns. */
static double batch_s = 0.02;

typedef int lock_function(void *);
typedef int barrier_function(pthread_barrier_t *);

static struct {
    const char *name, *lock, *try, *unlock;
} const kinds[] = {
    {"mutex", "pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_unlock"},
    {"spin", "pthread_spin_lock", "pthread_spin_trylock", "pthread_spin_unlock"},
    {"rwlock-write", "pthread_rwlock_wrlock", "pthread_rwlock_trywrlock", "pthread_rwlock_unlock"},
};

/* Apart, as a program's lock may be: nothing else is in its line of the cache. */
static union {
    pthread_mutex_t mutex;
    pthread_spinlock_t spin;
    pthread_rwlock_t rwlock;
    char room[256];
} lock __attribute__((aligned(128)));
static uint64_t guarded __attribute__((aligned(128)));

static struct {
    lock_function *lock, *unlock;
    uint64_t hold, think; /* steps */
    int times;            /* for each thread */
    int leave;
} work __attribute__((aligned(128)));
static barrier_function *meet;
static pthread_barrier_t begin, end;
static int threads;
static struct {
    double began, ended;
} spans[MOST_THREADS] __attribute__((aligned(128)));

static lock_function *real_lock, *real_try, *real_unlock;

/* The compiler must not make a jump of the call: a hook has something to do behind it. */
static int wrapped_lock(void *of)
{
    int result = real_lock(of);
    __asm__ volatile("");
    return result;
}

static uint64_t counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return (uint64_t)(wall() * 1e9);
#endif
}

/* What a wait took, where the compiler must not leave the counter unread. */
static _Thread_local volatile uint64_t waited_ticks;

static int timed_lock(void *of)
{
    int result = real_try(of);
    if (result != EBUSY)
        return result;
    uint64_t began = counter();
    result = real_lock(of);
    waited_ticks = counter() - began;
    return result;
}

static int wrapped_unlock(void *of)
{
    int result = real_unlock(of);
    __asm__ volatile("");
    return result;
}

static void *member(void *argument)
{
    int me = (int)(intptr_t)argument;
    uint64_t own = 1;
    for (;;) {
        meet(&begin);
        if (work.leave)
            break;
        lock_function *const acquire = work.lock, *const release = work.unlock;
        const uint64_t hold = work.hold, think = work.think;
        spans[me].began = wall();
        for (int i = work.times; i > 0; i--) {
            acquire(&lock);
            BURN(guarded, hold);
            release(&lock);
            BURN(own, think);
        }
        spans[me].ended = wall();
        meet(&end);
    }
    kept_result = own;
    return NULL;
}

static long switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

/* From when the last thread began to when the last one was done: only then do all of them want it. */
static double batch(long *sleeps)
{
    long before = switches();
    meet(&begin);
    meet(&end);
    /* Each thread sleeps in the barriers, too: the same in both kinds of batches. */
    *sleeps += switches() - before;
    double began = spans[0].began, ended = spans[0].ended;
    for (int i = 1; i < threads; i++) {
        began = spans[i].began < began ? spans[i].began : began;
        ended = spans[i].ended > ended ? spans[i].ended : ended;
    }
    return ended - began;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double part(double *sorted, int n, double share)
{
    return n > 0 ? sorted[(int)(share * (n - 1) + 0.5)] : 0;
}

struct cell {
    int hold_ns, think_ns, turns;
    double of[WAYS][MOST_TURNS], ratios[WAYS][MOST_TURNS];
    long sleeps[WAYS];
};

static int list(char *text, int *out)
{
    int n = 0;
    for (char *word = strtok(text, ","); word != NULL && n < MOST_TIMES; word = strtok(NULL, ","))
        out[n++] = atoi(word);
    return n;
}

int main(int argc, char **argv)
{
    if (argc != 6 && argc != 7)
        return 2;
    if (argc == 7)
        batch_s = atof(argv[6]) / 1000;
    double seconds = atof(argv[1]), started = wall();
    int holds[MOST_TIMES], thinks[MOST_TIMES], kind = -1;
    for (int k = 0; k < (int)(sizeof kinds / sizeof *kinds); k++)
        kind = strcmp(kinds[k].name, argv[2]) == 0 ? k : kind;
    threads = atoi(argv[3]);
    int of_holds = list(argv[4], holds), of_thinks = list(argv[5], thinks);
    void *library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL || kind < 0 || threads < 1 || threads > MOST_THREADS || of_holds * of_thinks == 0)
        return 2;
    real_lock = (lock_function *)dlsym(library, kinds[kind].lock);
    real_try = (lock_function *)dlsym(library, kinds[kind].try);
    real_unlock = (lock_function *)dlsym(library, kinds[kind].unlock);
    lock_function *functions[WAYS][2] = {
        [BARE] = {real_lock, real_unlock},
        [CALLED] = {(lock_function *)dlsym(RTLD_DEFAULT, kinds[kind].lock),
                    (lock_function *)dlsym(RTLD_DEFAULT, kinds[kind].unlock)},
        [WRAPPED] = {wrapped_lock, wrapped_unlock},
        [TIMED] = {timed_lock, wrapped_unlock},
    };
    meet = (barrier_function *)dlsym(library, "pthread_barrier_wait");
    if (real_lock == NULL || real_try == NULL || real_unlock == NULL || functions[CALLED][0] == NULL ||
        functions[CALLED][1] == NULL || meet == NULL)
        return 2;
    if (kind == 0)
        pthread_mutex_init(&lock.mutex, NULL);
    else if (kind == 1)
        pthread_spin_init(&lock.spin, PTHREAD_PROCESS_PRIVATE);
    else
        pthread_rwlock_init(&lock.rwlock, NULL);

    /* A step's length, from the shortest of some stretches. */
    double step_s = 1;
    for (int i = 0; i < 50; i++) {
        double began = wall();
        BURN(guarded, 20000);
        double one = (wall() - began) / 20000;
        step_s = one < step_s ? one : step_s;
    }
    pthread_barrier_init(&begin, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&end, NULL, (unsigned)threads + 1);
    pthread_t ids[MOST_THREADS];
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, member, (void *)(intptr_t)i) != 0)
            return 2;

    int cells = of_holds * of_thinks;
    struct cell *matrix = calloc((size_t)cells, sizeof *matrix);
    if (matrix == NULL)
        return 2;
    /* The first round is not counted: what is learned once is learned there. */
    for (int round = 0; round <= MOST_TURNS && (round < 3 || wall() - started < seconds); round++) {
        for (int c = 0; c < cells; c++) {
            struct cell *cell = &matrix[c];
            cell->hold_ns = holds[c / of_thinks];
            cell->think_ns = thinks[c % of_thinks];
            work.hold = (uint64_t)(cell->hold_ns * 1e-9 / step_s);
            work.think = (uint64_t)(cell->think_ns * 1e-9 / step_s);
            double in_turn_s = (cell->hold_ns + 50) * 1e-9 * threads,
                   alone_s = (cell->hold_ns + cell->think_ns + 50) * 1e-9;
            work.times = (int)(batch_s / (in_turn_s > alone_s ? in_turn_s : alone_s)) + 1;
            double took[WAYS];
            long sleeps[WAYS] = {0};
            for (int turn = 0; turn < WAYS; turn++) {
                int which = (turn + round) % WAYS;
                work.lock = functions[which][0];
                work.unlock = functions[which][1];
                took[which] = batch(&sleeps[which]);
            }
            if (round == 0)
                continue;
            double each = 1e9 / ((double)work.times * threads),
                   per_1000 = 1000.0 / ((double)work.times * threads);
            for (int i = 0; i < WAYS; i++) {
                cell->of[i][cell->turns] = took[i] * each;
                cell->ratios[i][cell->turns] = took[i] / took[BARE];
                cell->sleeps[i] += (long)(1000 * sleeps[i] * per_1000);
            }
            cell->turns++;
        }
    }
    work.leave = 1;
    meet(&begin);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);

    printf("{\"program\":\"lock_matrix\",\"kind\":\"%s\",\"threads\":%d,\"hooked\":%s,\"cells\":[",
           kinds[kind].name, threads, functions[BARE][0] == functions[CALLED][0] ? "false" : "true");
    for (int c = 0; c < cells; c++) {
        struct cell *cell = &matrix[c];
        int n = cell->turns;
        double sum[WAYS] = {0};
        for (int way = 0; way < WAYS; way++) {
            for (int i = 0; i < n; i++)
                sum[way] += cell->of[way][i];
            qsort(cell->of[way], (size_t)n, sizeof(double), ascending);
            qsort(cell->ratios[way], (size_t)n, sizeof(double), ascending);
        }
        double *called = cell->ratios[CALLED], *wrapped = cell->ratios[WRAPPED],
               *timed = cell->ratios[TIMED];
        printf("%s{\"hold_ns\":%d,\"think_ns\":%d,\"pairs\":%d,\"bare_ns\":%.1f,\"called_ns\":%.1f,"
               "\"wrapped_ns\":%.1f,\"ratio\":%.3f,\"low\":%.3f,\"high\":%.3f,\"total\":%.3f,",
               c > 0 ? "," : "", cell->hold_ns, cell->think_ns, n, part(cell->of[BARE], n, 0.5),
               part(cell->of[CALLED], n, 0.5), part(cell->of[WRAPPED], n, 0.5), part(called, n, 0.5),
               part(called, n, 0.25), part(called, n, 0.75), sum[CALLED] / sum[BARE]);
        printf("\"wrapped_ratio\":%.3f,\"wrapped_low\":%.3f,\"wrapped_high\":%.3f,"
               "\"timed_ratio\":%.3f,\"timed_low\":%.3f,\"timed_high\":%.3f,"
               "\"bare_sleeps\":%.1f,\"called_sleeps\":%.1f}",
               part(wrapped, n, 0.5), part(wrapped, n, 0.25), part(wrapped, n, 0.75),
               part(timed, n, 0.5), part(timed, n, 0.25), part(timed, n, 0.75),
               cell->sleeps[BARE] / 1000.0 / n, cell->sleeps[CALLED] / 1000.0 / n);
    }
    printf("],\"cpu_s\":%.6f,\"wall_s\":%.6f}\n", process_cpu(), wall() - started);
    return 0;
}

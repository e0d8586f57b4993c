/*
 * Phases that repeat: five functions of equal cost come in turn, with a period that is exact in the CPU
 * time of their thread, as in programs that go from step to step. Who samples in step with them sees some
 * phases more often than others.
 * phases [SECONDS] [THREADS[:READ_US]] PERIOD_MS [PERIOD_MS…]
 *
 * For each period so many threads run one after another, each for SECONDS of CPU time: two at a time, of
 * different periods. Each begins somewhere else in the period. With READ_US a thread reads from /dev/null,
 * which does not block, whenever so much CPU time has passed. Prints what each phase cost in each thread
 * by the thread's own CPU clock.
 */
#include "truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#define PHASES 5
#define MOST_THREADS 4096

/* Of the work between two looks at the clock: about 4 microseconds. */
#define STEP (UNIT / 5)

static double read_s;
static int nothing;
static __thread double next_read_s;

/* Part of the phase that calls it, but for the read. */
INLINED void read_if_due(double now)
{
    if (read_s == 0 || now < next_read_s)
        return;
    char byte;
    if (read(nothing, &byte, 1) != 0)
        abort();
    next_read_s = now + read_s;
}

#define PHASE(n)                                                                                             \
    KEPT static uint64_t phase_##n(uint64_t x, double until)                                                 \
    {                                                                                                        \
        double now;                                                                                          \
        do {                                                                                                 \
            BURN(x, STEP);                                                                                   \
            now = thread_cpu();                                                                              \
            read_if_due(now);                                                                                \
        } while (now < until);                                                                               \
        return x + n;                                                                                        \
    }
PHASE(0) PHASE(1) PHASE(2) PHASE(3) PHASE(4)

static uint64_t (*const phases[PHASES])(uint64_t, double) = {phase_0, phase_1, phase_2, phase_3, phase_4};

struct thread {
    pthread_t handle;
    char name[16];
    double seconds, period, offset;
    double cost[PHASES];
    long id;
};
static struct thread threads[MOST_THREADS];
static int thread_count, next_thread;

static void *run(void *argument)
{
    struct thread *thread = argument;
    pthread_setname_np(pthread_self(), thread->name);
    thread->id = thread_id();
    double part = thread->period / PHASES;
    double begin = thread_cpu(), now = begin, end = begin + thread->seconds;
    /* Where the period is at the begin. */
    long at = (long)(thread->offset * PHASES);
    double boundary = begin + part * (1 - (thread->offset * PHASES - (double)at));
    uint64_t x = 1;
    while (now < end) {
        x = phases[at % PHASES](x, boundary < end ? boundary : end);
        double after = thread_cpu();
        thread->cost[at % PHASES] += after - now;
        now = after;
        boundary += part;
        at++;
    }
    kept_result = x;
    return NULL;
}

/* One of two that take the threads in turn. */
static void *take_turns(void *unused)
{
    (void)unused;
    for (;;) {
        int number = __atomic_fetch_add(&next_thread, 1, __ATOMIC_RELAXED);
        if (number >= thread_count)
            return NULL;
        if (pthread_create(&threads[number].handle, NULL, run, &threads[number]) != 0)
            abort();
        pthread_join(threads[number].handle, NULL);
    }
}

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 0.25);
    int of_each = argc > 2 ? atoi(argv[2]) : 2;
    const char *reads = argc > 2 ? strchr(argv[2], ':') : NULL;
    read_s = reads ? 1e-6 * atof(reads + 1) : 0;
    nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int periods = argc - 3;
    if (periods < 1 || of_each < 1 || periods * of_each > MOST_THREADS) {
        fprintf(stderr, "usage: phases SECONDS THREADS[:READ_US] PERIOD_MS [PERIOD_MS…]\n");
        return 2;
    }
    /* From the same clock as nothing else here: not in step with the sampler. */
    uint64_t state = (uint64_t)(wall() * 1e9) | 1;
    for (int turn = 0; turn < of_each; turn++) {
        for (int period = 0; period < periods; period++) {
            struct thread *thread = &threads[thread_count];
            snprintf(thread->name, sizeof thread->name, "phases-%d", thread_count++);
            thread->seconds = seconds;
            thread->period = 1e-3 * atof(argv[3 + period]);
            thread->offset = (double)(uneven(&state, 1 << 20) - (1 << 19)) / (1 << 20);
        }
    }
    pthread_t takers[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&takers[i], NULL, take_turns, NULL) != 0)
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(takers[i], NULL);

    printf("{\"program\":\"phases\",\"threads\":[");
    for (int i = 0; i < thread_count; i++) {
        printf("%s{\"name\":\"%s\",\"tid\":%ld,\"period_ms\":%.4f,\"cost_s\":[", i ? "," : "",
               threads[i].name, threads[i].id, 1e3 * threads[i].period);
        for (int n = 0; n < PHASES; n++)
            printf("%s%.9f", n ? "," : "", threads[i].cost[n]);
        printf("]}");
    }
    printf("]}\n");
    return 0;
}

/* Memory that is touched: by the wrong thread, at once, again and again. */
#include "cases.h"

#include <malloc.h>

enum { PAGE = 4096 };

static char *table;
static size_t table_bytes;

/* Small pages only: with large ones there would hardly be a fault. */
static char *fresh(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(2);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

KEPT static void fill_table(char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PAGE)
        from[at] = (char)at;
}

struct half {
    char *from;
    size_t bytes;
    int fills;
    double seconds;
};

static void *use_half(void *argument)
{
    struct half *half = argument;
    if (half->fills)
        fill_table(half->from, half->bytes);
    burn_cpu(half->seconds);
    return NULL;
}

/* first-touch: main fills what two threads use; repaired, each fills its own half. */
static void two_halves(double seconds, int each_fills)
{
    table_bytes = (size_t)512 << 20;
    table = fresh(table_bytes);
    if (!each_fills)
        fill_table(table, table_bytes);
    struct half halves[2];
    for (int i = 0; i < 2; i++) {
        halves[i] = (struct half){table + i * (table_bytes / 2), table_bytes / 2, each_fills, seconds};
        start(use_half, &halves[i]);
    }
    join_all();
}

static void first_touch(double seconds) { two_halves(seconds, 0); }
static void first_touch_repaired(double seconds) { two_halves(seconds, 1); }

/* fault-startup: a program touches a large table at its start; repaired, only what it needs. */
static void startup(double seconds, size_t bytes)
{
    table = fresh(bytes);
    fill_table(table, bytes);
    burn_cpu(seconds);
}

static void fault_startup(double seconds) { startup(seconds, (size_t)256 << 20); }
static void fault_startup_repaired(double seconds) { startup(seconds, (size_t)1 << 20); }

/* fault-churn: memory for each step, given back after it; repaired, the same for all. */
static void steps(double seconds, int keeps)
{
    enum { BYTES = 32 << 20 };
    char *memory = keeps ? fresh(BYTES) : NULL;
    for (double until = thread_cpu() + seconds; thread_cpu() < until;) {
        if (!keeps)
            memory = fresh(BYTES);
        fill_table(memory, BYTES);
        burn_cpu(0.002);
        if (!keeps)
            munmap(memory, BYTES);
    }
}

static void fault_churn(double seconds) { steps(seconds, 0); }
static void fault_churn_repaired(double seconds) { steps(seconds, 1); }

/* memory-clearing: a large table is cleared for each query; repaired, what the query used of it. */
enum { SCRATCH_BYTES = 16 << 20, USED_BYTES = 4 << 10 };

static double cleared_s;

KEPT static void clear_scratch(char *scratch, size_t bytes)
{
    double since = thread_cpu();
    memset(scratch, 0, bytes);
    cleared_s += thread_cpu() - since;
}

static void queries(double seconds, size_t bytes)
{
    char *scratch = fresh(SCRATCH_BYTES);
    fill_table(scratch, SCRATCH_BYTES);
    for (double until = thread_cpu() + seconds; thread_cpu() < until;) {
        clear_scratch(scratch, bytes);
        scratch[USED_BYTES - 1]++;
        burn_cpu(0.0005);
    }
    munmap(scratch, SCRATCH_BYTES);
    has_lost(cleared_s);
}

static void memory_clearing(double seconds) { queries(seconds, SCRATCH_BYTES); }
static void memory_clearing_repaired(double seconds) { queries(seconds, USED_BYTES); }

/* memory-copying: a table is copied for each query; repaired, it is only read. */
enum { TABLE_BYTES = 4 << 20 };

static double copied_s;

KEPT static void copy_table(char *to, const char *from)
{
    double since = thread_cpu();
    memcpy(to, from, TABLE_BYTES);
    copied_s += thread_cpu() - since;
}

static void lookups(double seconds, int copies)
{
    char *from = fresh(TABLE_BYTES), *own = fresh(TABLE_BYTES);
    fill_table(from, TABLE_BYTES);
    fill_table(own, TABLE_BYTES);
    for (double until = thread_cpu() + seconds; thread_cpu() < until;) {
        if (copies)
            copy_table(own, from);
        kept_result += (unsigned char)own[TABLE_BYTES - 1];
        burn_cpu(0.0005);
    }
    has_lost(copied_s);
}

static void memory_copying(double seconds) { lookups(seconds, 1); }
static void memory_copying_repaired(double seconds) { lookups(seconds, 0); }

/* allocation-churn: each record is made of parts that are freed with it; repaired, they are kept. */
enum { PARTS = 2000 };

static double allocated_s;

KEPT static void make_parts(char **parts)
{
    double since = thread_cpu();
    for (int i = 0; i < PARTS; i++) {
        if ((parts[i] = malloc(24 + i % 64 * 8)) == NULL)
            exit(2);
        *parts[i] = (char)i;
    }
    for (int i = 0; i < PARTS; i++)
        free(parts[i]);
    allocated_s += thread_cpu() - since;
}

static void records(double seconds, int each)
{
    char *parts[PARTS];
    /* The heap keeps what is freed: giving it back would be another fault. */
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    for (double until = thread_cpu() + seconds; thread_cpu() < until;) {
        for (int i = 0; i < 20 && each; i++)
            make_parts(parts);
        burn_cpu(0.001);
    }
    has_lost(allocated_s);
}

static void allocation_churn(double seconds) { records(seconds, 1); }
static void allocation_churn_repaired(double seconds) { records(seconds, 0); }

/* hot-atomic: two threads count in one place all the time; repaired, each in its own. */
static struct {
    _Alignas(128) _Atomic long of_all;
    _Alignas(128) char end;
} counted;

KEPT static void *count_in_common(void *argument)
{
    double seconds = *(double *)argument;
    for (double until = thread_cpu() + seconds; thread_cpu() < until;)
        for (int i = 0; i < 2000; i++)
            counted.of_all++;
    return NULL;
}

KEPT static void *count_alone(void *argument)
{
    double seconds = *(double *)argument;
    volatile long own = 0;
    for (double until = thread_cpu() + seconds; thread_cpu() < until;)
        for (int i = 0; i < 2000; i++)
            own++;
    counted.of_all += own;
    return NULL;
}

static void two_count(double seconds, void *(*count)(void *))
{
    start(count, &seconds);
    start(count, &seconds);
    join_all();
    kept_result += (uint64_t)counted.of_all;
}

static void hot_atomic(double seconds) { two_count(seconds, count_in_common); }
static void hot_atomic_repaired(double seconds) { two_count(seconds, count_alone); }

const struct finding_case memory_cases[] = {
    {"first-touch", first_touch, first_touch_repaired},
    {"fault-startup", fault_startup, fault_startup_repaired},
    {"fault-churn", fault_churn, fault_churn_repaired},
    {"memory-clearing", memory_clearing, memory_clearing_repaired},
    {"memory-copying", memory_copying, memory_copying_repaired},
    {"allocation-churn", allocation_churn, allocation_churn_repaired},
    {"hot-atomic", hot_atomic, hot_atomic_repaired},
    {NULL, NULL, NULL},
};

/*
 * How much of a small stack OpenMP's constructs take: each thread of a team makes them on a stack of its
 * own, which is painted before, and the lowest byte that changed is looked for. Alone and under a
 * measurement the same is done, so that the difference is the measurement's.
 *
 * Prints for each construct the most bytes that any thread took in any round, and whether memory beyond a
 * stack is untouched.
 */
#include "../truth.h"

#include <omp.h>
#include <string.h>

enum { THREADS = 2, STACK_BYTES = 65536, CANARY_BYTES = 8192, ROUNDS = 40, PAINT = 0x5c };

static unsigned char stacks[THREADS][CANARY_BYTES + STACK_BYTES] __attribute__((aligned(64)));
static omp_lock_t lock;
static omp_nest_lock_t nest_lock;
static int shared_sum;
static double large[2];

/* A moment that is not the same for both, so that somebody waits. */
static void moment(void)
{
    for (volatile int i = 0; i < 300 * (omp_get_thread_num() + 1); i++)
        ;
}

KEPT static void do_barrier(void)
{
    moment();
#pragma omp barrier
}

KEPT static void do_critical(void)
{
#pragma omp critical
    moment();
}

KEPT static void do_named_critical(void)
{
#pragma omp critical(named)
    moment();
}

KEPT static void do_for_static(void)
{
#pragma omp for schedule(static)
    for (int i = 0; i < 4; i++) moment();
}

KEPT static void do_for_dynamic(void)
{
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 4; i++) moment();
}

KEPT static void do_for_guided(void)
{
#pragma omp for schedule(guided)
    for (int i = 0; i < 4; i++) moment();
}

KEPT static void do_for_runtime(void)
{
#pragma omp for schedule(runtime)
    for (int i = 0; i < 4; i++) moment();
}

KEPT static void do_for_long_long(void)
{
#pragma omp for schedule(dynamic)
    for (unsigned long long i = 0; i < 4; i++) moment();
}

KEPT static void do_for_nowait(void)
{
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 4; i++) moment();
}

KEPT static void do_ordered(void)
{
#pragma omp for schedule(dynamic) ordered
    for (int i = 0; i < 4; i++) {
#pragma omp ordered
        moment();
    }
}

KEPT static void do_doacross(void)
{
#pragma omp for schedule(static) ordered(1)
    for (int i = 0; i < 4; i++) {
#pragma omp ordered depend(sink : i - 1)
        moment();
#pragma omp ordered depend(source)
    }
}

KEPT static void do_single(void)
{
#pragma omp single
    moment();
}

KEPT static void do_single_copy(void)
{
    int value = 0;
#pragma omp single copyprivate(value)
    value = shared_sum;
    if (value < 0) moment();
}

KEPT static void do_sections(void)
{
#pragma omp sections
    {
#pragma omp section
        moment();
#pragma omp section
        moment();
    }
}

KEPT static void do_reduction(void)
{
#pragma omp for reduction(+ : shared_sum)
    for (int i = 0; i < 4; i++) shared_sum += i;
}

KEPT static void do_atomic(void)
{
#pragma omp atomic
    large[0] += 1.0;
}

KEPT static void do_task(void)
{
#pragma omp task
    moment();
#pragma omp taskwait
}

KEPT static void do_task_depend(void)
{
    int of = 0;
#pragma omp task depend(out : of) shared(of)
    of = 1;
#pragma omp task depend(in : of) shared(of)
    moment();
#pragma omp taskwait
    (void)of;
}

KEPT static void do_taskgroup(void)
{
#pragma omp taskgroup
    {
#pragma omp task
        moment();
    }
}

KEPT static void do_taskloop(void)
{
#pragma omp taskloop
    for (int i = 0; i < 4; i++) moment();
}

KEPT static void do_taskyield(void)
{
#pragma omp taskyield
}

KEPT static void do_lock(void)
{
    omp_set_lock(&lock); moment(); omp_unset_lock(&lock);
}

KEPT static void do_lock_again(void)
{
    omp_set_lock(&lock); omp_unset_lock(&lock);
}

KEPT static void do_test_lock(void)
{
    if (omp_test_lock(&lock)) omp_unset_lock(&lock);
}

KEPT static void do_nest_lock(void)
{
    omp_set_nest_lock(&nest_lock); omp_set_nest_lock(&nest_lock); moment(); omp_unset_nest_lock(&nest_lock);
          omp_unset_nest_lock(&nest_lock);
}

KEPT static void do_test_nest_lock(void)
{
    if (omp_test_nest_lock(&nest_lock)) omp_unset_nest_lock(&nest_lock);
}

KEPT static void do_nested(void)
{
#pragma omp parallel num_threads(1)
    moment();
}

KEPT static void do_nested_team(void)
{
#pragma omp parallel num_threads(2)
    moment();
}

KEPT static void do_parallel_for(void)
{
#pragma omp parallel for num_threads(2) schedule(dynamic)
    for (int i = 0; i < 4; i++) moment();
}

KEPT static void do_parallel_guided(void)
{
#pragma omp parallel for num_threads(2) schedule(guided)
    for (int i = 0; i < 4; i++) moment();
}

KEPT static void do_parallel_runtime(void)
{
#pragma omp parallel for num_threads(2) schedule(runtime)
    for (int i = 0; i < 4; i++) moment();
}

KEPT static void do_parallel_sections(void)
{
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        moment();
#pragma omp section
        moment();
    }
}

#define ONE(name) {#name, do_##name}
static const struct {
    const char *name;
    void (*make)(void);
} constructs[] = {
    ONE(barrier),
    ONE(critical),
    ONE(named_critical),
    ONE(for_static),
    ONE(for_dynamic),
    ONE(for_guided),
    ONE(for_runtime),
    ONE(for_long_long),
    ONE(for_nowait),
    ONE(ordered),
    ONE(doacross),
    ONE(single),
    ONE(single_copy),
    ONE(sections),
    ONE(reduction),
    ONE(atomic),
    ONE(task),
    ONE(task_depend),
    ONE(taskgroup),
    ONE(taskloop),
    ONE(taskyield),
    ONE(lock),
    ONE(lock_again),
    ONE(test_lock),
    ONE(nest_lock),
    ONE(test_nest_lock),
    ONE(nested),
    ONE(nested_team),
    ONE(parallel_for),
    ONE(parallel_guided),
    ONE(parallel_runtime),
    ONE(parallel_sections),
};
enum { CONSTRUCTS = sizeof constructs / sizeof *constructs };
static size_t most[THREADS][CONSTRUCTS];

KEPT static void on_stack(unsigned char *top, void (*make)(void))
{
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %[top], %%rsp\n\tcall *%[make]\n\tmov %%rbx, %%rsp"
                     : [top] "+r"(top), [make] "+r"(make)
                     :
                     : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

KEPT static void measure(int thread, int construct)
{
    unsigned char *low = stacks[thread] + CANARY_BYTES;
    size_t untouched = 0;
    memset(low, PAINT, STACK_BYTES);
    on_stack(low + STACK_BYTES, constructs[construct].make);
    while (untouched < STACK_BYTES && low[untouched] == PAINT)
        untouched++;
    if (STACK_BYTES - untouched > most[thread][construct])
        most[thread][construct] = STACK_BYTES - untouched;
}

int main(void)
{
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
    memset(stacks, PAINT, sizeof stacks);
    for (int round = 0; round < ROUNDS; round++)
#pragma omp parallel num_threads(THREADS)
        for (int construct = 0; construct < CONSTRUCTS; construct++) {
            measure(omp_get_thread_num(), construct);
            /* So that a thread waits in some other round where it did not in this one. */
            if ((round + construct) % 3 == omp_get_thread_num())
                moment();
        }
    size_t overwritten = 0;
    for (int thread = 0; thread < THREADS; thread++)
        for (int i = 0; i < CANARY_BYTES; i++)
            overwritten += stacks[thread][i] != PAINT;
    printf("{\"program\":\"openmp-stacks\",\"overwritten_bytes\":%zu,\"constructs\":[", overwritten);
    for (int i = 0; i < CONSTRUCTS; i++)
        printf("%s{\"construct\":\"%s\",\"bytes\":%zu}", i > 0 ? "," : "", constructs[i].name,
               most[0][i] > most[1][i] ? most[0][i] : most[1][i]);
    printf("]}\n");
    return 0;
}

/* Alternate signal stacks of every size, and fibers whose stacks have no room for a signal. What lies below
   each is painted. */
#include "cases.h"

#include <sys/auxv.h>
#include <ucontext.h>

enum { GUARD = 65536, PAINT = 0xa5, FIBER_BYTES = 4096, FIBERS = 8 };

static unsigned char *painted(size_t bytes)
{
    unsigned char *memory = aligned_alloc(64, GUARD + (bytes + 63) / 64 * 64);
    memset(memory, PAINT, GUARD);
    return memory;
}

static int touched(const unsigned char *memory)
{
    int count = 0;
    for (int i = 0; i < GUARD; i++)
        count += memory[i] != PAINT;
    return count;
}

/* The kernel saves what is in use only: all of it shall be. */
static void fill_vector_registers(void)
{
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile(
            "vcmptrueps %%ymm0, %%ymm0, %%ymm0\n\tvmovaps %%ymm0, %%ymm15\n\tvmovaps %%ymm0, %%ymm7" ::
                : "xmm0", "xmm7", "xmm15");
    if (__builtin_cpu_supports("avx512f"))
        __asm__ volatile("vpternlogd $255, %%zmm0, %%zmm0, %%zmm31\n\tkxnorw %%k1, %%k1, %%k1" ::: "memory");
}

static void compute(int units)
{
    uint64_t x = kept_result;
    for (int i = 0; i < units; i++) {
        fill_vector_registers();
        BURN(x, UNIT);
    }
    kept_result = x;
}

/* As much as gets some samples at any rate; `compute` is called so that the stack pointer is the caller's. */
void compute_for(double seconds)
{
    double until = thread_cpu() + seconds;
    while (thread_cpu() < until)
        compute(200);
}

static volatile int ran_on_it;
static unsigned char *stack_now;
static size_t bytes_now;

static void looks_where(int number)
{
    unsigned char *here = __builtin_frame_address(0);
    ran_on_it += here >= stack_now && here < stack_now + bytes_now;
    hits[number]++;
}

static void of_size(size_t bytes, size_t least_for_a_handler)
{
    unsigned char *memory = painted(bytes);
    stack_t stack = {.ss_sp = memory + GUARD, .ss_size = bytes}, seen, none = {.ss_flags = SS_DISABLE};
    CHECK_IS(sigaltstack(&stack, NULL), 0);
    compute_for(0.03);
    CHECK_IS(touched(memory), 0);
    CHECK_IS(sigaltstack(NULL, &seen), 0);
    CHECK(seen.ss_sp == stack.ss_sp && seen.ss_size == bytes && seen.ss_flags == 0);
    if (bytes >= least_for_a_handler) {
        struct sigaction action = {.sa_handler = looks_where, .sa_flags = SA_ONSTACK};
        stack_now = stack.ss_sp;
        bytes_now = bytes;
        ran_on_it = 0;
        sigaction(SIGUSR1, &action, NULL);
        raise(SIGUSR1);
        CHECK_IS(ran_on_it, 1);
        compute_for(0.005);
    }
    CHECK_IS(sigaltstack(&none, &seen), 0);
    CHECK(seen.ss_sp == stack.ss_sp);
    CHECK_IS(touched(memory), 0);
    free(memory);
    compute_for(0.005);
}

static void *of_every_size(void *unused)
{
    (void)unused;
    size_t least = getauxval(AT_MINSIGSTKSZ);
    size_t sizes[] = {2048, 3072, 4096, least + 4095, least + 4096, 8192, 16384, 65536};
    for (int i = 0; i < (int)(sizeof sizes / sizeof sizes[0]); i++)
        of_size(sizes[i], least + 2048);
    /* On the thread's own stack, as programs have it that need it for a moment. */
    unsigned char here[3 * 8192];
    memset(here, PAINT, sizeof here);
    stack_t stack = {.ss_sp = here + 8192, .ss_size = 8192}, none = {.ss_flags = SS_DISABLE};
    CHECK_IS(sigaltstack(&stack, NULL), 0);
    compute_for(0.05);
    CHECK_IS(sigaltstack(&none, NULL), 0);
    int wrong_bytes = 0;
    for (int i = 0; i < 8192; i++)
        wrong_bytes += here[i] != PAINT || here[2 * 8192 + i] != PAINT;
    CHECK_IS(wrong_bytes, 0);
    return NULL;
}

void alternate_stacks_of_every_size(void)
{
    pthread_t thread;
    of_every_size(NULL);
    pthread_create(&thread, NULL, of_every_size, NULL);
    pthread_join(thread, NULL);
}

/* A fiber by hand: registers and stack pointer are changed, and nobody is told. */
__asm__(".text\n"
        ".p2align 4\n"
        "switch_fiber:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov (%rsi), %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\n"
        "ret\n");
extern void switch_fiber(void **from, void **to);

static __thread void *outside, *fibers[FIBERS];
static __thread int fiber_now;

static void fiber(void)
{
    /* What is left is less than a signal needs. */
    volatile char used[FIBER_BYTES / 3];
    for (;;) {
        used[0] = 1;
        (void)used[0];
        compute(20);
        switch_fiber(&fibers[fiber_now], &outside);
    }
}

static void switches(void)
{
    unsigned char *memory[FIBERS];
    for (int i = 0; i < FIBERS; i++) {
        memory[i] = painted(FIBER_BYTES);
        void **top = (void **)(memory[i] + GUARD + FIBER_BYTES - 64);
        *top = (void *)fiber;
        fibers[i] = top - 6;
        memset(fibers[i], 0, 48);
    }
    double until = thread_cpu() + 0.15;
    while (thread_cpu() < until)
        for (int i = 0; i < FIBERS; i++) {
            fiber_now = i;
            switch_fiber(&outside, &fibers[i]);
        }
    for (int i = 0; i < FIBERS; i++) {
        CHECK_IS(touched(memory[i]), 0);
        free(memory[i]);
    }
}

static __thread ucontext_t main_context, context;

static void in_context(void)
{
    volatile char used[FIBER_BYTES / 3];
    used[0] = 1;
    (void)used[0];
    for (int i = 0; i < 200; i++) {
        compute(100);
        swapcontext(&context, &main_context);
    }
}

static void swaps(void)
{
    unsigned char *memory = painted(FIBER_BYTES);
    getcontext(&context);
    context.uc_stack.ss_sp = memory + GUARD;
    context.uc_stack.ss_size = FIBER_BYTES;
    context.uc_link = &main_context;
    makecontext(&context, in_context, 0);
    for (int i = 0; i < 200; i++)
        swapcontext(&main_context, &context);
    CHECK_IS(touched(memory), 0);
    free(memory);
}

/* Runtimes with such fibers give each thread a stack for signals, and require of every handler that it uses
   it. */
static void *with_signal_stack(void *unused)
{
    (void)unused;
    static const size_t bytes[] = {16384, 65536};
    for (int i = 0; i < 2; i++) {
        unsigned char *memory = painted(bytes[i]);
        stack_t stack = {.ss_sp = memory + GUARD, .ss_size = bytes[i]}, none = {.ss_flags = SS_DISABLE};
        CHECK_IS(sigaltstack(&stack, NULL), 0);
        switches();
        swaps();
        CHECK_IS(sigaltstack(&none, NULL), 0);
        CHECK_IS(touched(memory), 0);
        free(memory);
    }
    return NULL;
}

void small_fibers(void)
{
    pthread_t thread;
    with_signal_stack(NULL);
    pthread_create(&thread, NULL, with_signal_stack, NULL);
    pthread_join(thread, NULL);
}

/*
 * Stacks with neighbours: the kernel shows as one mapping what are several stacks, or a stack and something
 * that goes away.
 * hostile_stacks [CASE …]
 */
#define _GNU_SOURCE
#include "hostile.h"

#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum {
    STACKS = 6,
    STACK_BYTES = 32768,
    CANARY_BYTES = 16384,
    LEFT_BYTES = 2048,
    ALTERNATE_BYTES = 65536,
    PAINT = 0x5c
};

static unsigned char block[STACKS * (STACK_BYTES + CANARY_BYTES) + CANARY_BYTES]
    __attribute__((aligned(4096)));

static unsigned char *low_of(int number)
{
    return block + CANARY_BYTES + number * (STACK_BYTES + CANARY_BYTES);
}

/* Bytes of canaries that somebody has written to. */
static long overwritten(void)
{
    long bytes = 0;
    for (int n = 0; n <= STACKS; n++)
        for (int i = 0; i < CANARY_BYTES; i++)
            bytes += low_of(n)[i - CANARY_BYTES] != PAINT;
    return bytes;
}

/* Waits where hardly any stack is left. The call needs less than 1 KiB, once the dynamic linker has found it.
   */
KEPT static void waits_near_the_end(void)
{
    for (int i = 0; i < 30; i++) {
        struct timespec moment = {0, 200000};
        nanosleep(&moment, NULL);
    }
}

/* What is left below what a thread uses. */
static size_t left_bytes;
/* Where its signals come: a stack for each thread, or its own. */
static int has_alternate;
static unsigned char alternates[STACKS][ALTERNATE_BYTES];
static int alternates_taken;

static void *uses_nearly_all(void *low)
{
    struct timespec moment = {0, 1};
    if (has_alternate) {
        int number = __atomic_fetch_add(&alternates_taken, 1, __ATOMIC_RELAXED);
        stack_t stack = {.ss_sp = alternates[number], .ss_size = ALTERNATE_BYTES};
        sigaltstack(&stack, NULL);
    }
    nanosleep(&moment, NULL);
    size_t room = (size_t)((unsigned char *)__builtin_frame_address(0) - (unsigned char *)low);
    volatile unsigned char *used = __builtin_alloca(room - left_bytes);
    used[0] = 1;
    waits_near_the_end();
    return NULL;
}

static void use_all_side_by_side(void)
{
    pthread_t threads[STACKS];
    pthread_attr_t attributes;
    memset(block, PAINT, sizeof block);
    pthread_attr_init(&attributes);
    for (int n = 0; n < STACKS; n++) {
        pthread_attr_setstack(&attributes, low_of(n), STACK_BYTES);
        CHECK_IS(pthread_create(&threads[n], &attributes, uses_nearly_all, low_of(n)), 0);
    }
    for (int n = 0; n < STACKS; n++)
        pthread_join(threads[n], NULL);
    CHECK_IS(overwritten(), 0);
}

/* Signals come on stacks of their own: nothing but calls takes of these. */
static void side_by_side(void)
{
    has_alternate = 1;
    left_bytes = LEFT_BYTES;
    use_all_side_by_side();
}

/* A signal may come, whose frame the kernel puts on the stack that it interrupts. */
static void side_by_side_with_signals(void)
{
    unsigned long frame_bytes = getauxval(AT_MINSIGSTKSZ);
    has_alternate = 0;
    left_bytes = LEFT_BYTES + (frame_bytes != 0 ? frame_bytes : MINSIGSTKSZ);
    use_all_side_by_side();
}

/* Counts down with something in the frame pointer that points nowhere; no table says how to leave it. */
void counts_without_a_frame(uint64_t turns, void *frame);
__asm__(".text\n"
        ".globl counts_without_a_frame\n"
        ".type counts_without_a_frame,@function\n"
        "counts_without_a_frame:\n"
        "  push %rbp\n"
        "  mov %rsi, %rbp\n"
        "1: dec %rdi\n"
        "  jnz 1b\n"
        "  pop %rbp\n"
        "  ret\n"
        ".size counts_without_a_frame, . - counts_without_a_frame\n");

static pthread_barrier_t meeting;

static void *points_above_its_stack(void *above)
{
    struct timespec moment = {0, 5000000};
    nanosleep(&moment, NULL);
    pthread_barrier_wait(&meeting);
    pthread_barrier_wait(&meeting);
    counts_without_a_frame(UINT64_C(800000000), (char *)above + 4096);
    return NULL;
}

/* Whether one line of the list of mappings holds both addresses. */
static int are_one_mapping(const void *one, const void *other)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int found = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx", &from, &to) == 2)
            found |= (unsigned long)one >= from && (unsigned long)one < to && (unsigned long)other >= from
                     && (unsigned long)other < to;
    }
    if (maps != NULL)
        fclose(maps);
    return found;
}

static void goes_away_above(void)
{
    enum { ABOVE = 1 << 20 };
    pthread_t thread;
    char *above = mmap(NULL, ABOVE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    pthread_barrier_init(&meeting, NULL, 2);
    CHECK_IS(pthread_create(&thread, NULL, points_above_its_stack, above), 0);
    pthread_barrier_wait(&meeting);
    /* The thread's handle is an address near its stack's upper end. */
    int joined = are_one_mapping((void *)thread, above);
    munmap(above, ABOVE);
    pthread_barrier_wait(&meeting);
    pthread_join(thread, NULL);
    if (!joined)
        NOT_HERE("a stack and another mapping that become one");
    CHECK(joined);
}

static const struct hostile_case cases[] = {
    CASE(side_by_side), CASE(side_by_side_with_signals), CASE(goes_away_above), {NULL, NULL}};

int main(int argc, char **argv) { return run_cases(cases, argc, argv); }

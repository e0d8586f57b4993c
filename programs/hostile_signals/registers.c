/* Alternate stacks of the usual size, and the processor's largest registers, which the kernel stores on
   them. */
#define _GNU_SOURCE
#include "cases.h"

#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LEAST_USUAL = 8192, FENCE = 4096, PAINT_BYTE = 0xa5 };

static size_t usual_bytes(void)
{
    size_t reported = getauxval(AT_MINSIGSTKSZ);
    return reported > LEAST_USUAL ? reported : LEAST_USUAL;
}

/* A stack of the usual size between two fences. */
static unsigned char *fenced_stack(void)
{
    size_t bytes = usual_bytes();
    unsigned char *memory = malloc(bytes + 2 * FENCE);
    memset(memory, PAINT_BYTE, bytes + 2 * FENCE);
    stack_t stack = {.ss_sp = memory + FENCE, .ss_size = bytes};
    CHECK_IS(sigaltstack(&stack, NULL), 0);
    return memory;
}

static void without_stack(unsigned char *memory)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    CHECK_IS(sigaltstack(&none, NULL), 0);
    int touched = 0;
    for (size_t i = 0; i < FENCE; i++)
        touched += memory[i] != PAINT_BYTE || memory[FENCE + usual_bytes() + i] != PAINT_BYTE;
    CHECK_IS(touched, 0);
    free(memory);
}

/* Languages give each thread a stack of this size: the larger of 8 KiB and what the kernel asks for. */
__attribute__((noinline)) void usual_alternate_stack(void)
{
    unsigned char *memory = fenced_stack();
    compute_for(0.5);
    without_stack(memory);
}

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#include <immintrin.h>

enum { ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18, ROWS = 16, ROW_BYTES = 64 };

struct tile_shapes {
    unsigned char palette, start_row, reserved[14];
    unsigned short row_bytes[16];
    unsigned char rows[16];
} __attribute__((packed));

/* Without the C library, where a hook would see it. */
static long request(long feature)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_arch_prctl), "D"(ARCH_REQ_XCOMP_PERM), "S"(feature)
                     : "rcx", "r11", "memory");
    return result;
}

__attribute__((target("amx-tile,amx-int8"), noinline)) static int multiply(int rounds)
{
    static signed char ones[ROWS][ROW_BYTES], twos[ROWS][ROW_BYTES];
    static int sums[ROWS][ROWS];
    struct tile_shapes shapes = {.palette = 1};
    for (int tile = 0; tile < 3; tile++) {
        shapes.row_bytes[tile] = ROW_BYTES;
        shapes.rows[tile] = ROWS;
    }
    memset(ones, 1, sizeof ones);
    memset(twos, 2, sizeof twos);
    _tile_loadconfig(&shapes);
    _tile_zero(0);
    _tile_loadd(1, ones, ROW_BYTES);
    _tile_loadd(2, twos, ROW_BYTES);
    /* The tiles keep their contents all the while: samples interrupt the loop. */
    for (int i = 0; i < rounds; i++)
        _tile_dpbssd(0, 1, 2);
    _tile_stored(0, sums, ROW_BYTES);
    _tile_release();
    int wrong_sums = 0;
    for (int i = 0; i < ROWS * ROWS; i++)
        wrong_sums += sums[i / ROWS][i % ROWS] != rounds * ROW_BYTES * 2;
    return wrong_sums;
}

void tiles_on_a_usual_alternate_stack(void)
{
    unsigned char *memory = fenced_stack();
    compute_for(0.1);
    if (!__builtin_cpu_supports("avx512f") || request(TILE_DATA) != 0) {
        printf("no tiles\n");
    } else {
        for (int i = 0; i < 10; i++)
            CHECK_IS(multiply(4000000), 0);
        compute_for(0.1);
    }
    without_stack(memory);
    compute_for(0.1);
}
#else
void tiles_on_a_usual_alternate_stack(void) { printf("no tiles\n"); }
#endif

/*
 * Call paths that hardly ever repeat: random walks down a tree of functions, calls through pointers, frames
 * of changing size, long jumps over many frames, callbacks from the C library. Food for whoever remembers
 * call paths.
 * deep_and_shallow [SECONDS]
 */
#include "truth.h"

#include <alloca.h>
#include <setjmp.h>
#include <string.h>

static uint64_t random_state = 88172645463325252u;
static jmp_buf landing;
static long walks, jumps, sorts, compared;

static uint64_t chance(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 11;
}

typedef uint64_t step_function(uint64_t x, int depth);
static step_function plain_step, alloca_step, vla_step, aligned_step, sorting_step, tail_step;
static step_function *const steps[] = {plain_step, alloca_step, vla_step,  plain_step,
                                       tail_step,  aligned_step, plain_step, sorting_step};

/* Goes on to a random function, computes here, or leaves many frames at once. */
KEPT uint64_t walk(uint64_t x, int depth)
{
    uint64_t choice = chance();
    BURN(x, choice % 2000);
    if (depth == 0)
        return x;
    if (choice % 4096 == 0) {
        kept_result = x;
        jumps++;
        longjmp(landing, 1);
    }
    x = steps[chance() % 8](x, depth - 1);
    BURN(x, chance() % 500);
    return x;
}

KEPT static uint64_t plain_step(uint64_t x, int depth)
{
    x = walk(x, depth);
    return x ^ 1;
}

KEPT static uint64_t alloca_step(uint64_t x, int depth)
{
    size_t size = 16 + chance() % 400;
    unsigned char *space = alloca(size);
    memset(space, (int)x, size);
    x = walk(x, depth);
    return x + space[size / 2];
}

KEPT static uint64_t vla_step(uint64_t x, int depth)
{
    size_t length = 1 + chance() % 50;
    uint64_t space[length];
    for (size_t i = 0; i < length; i++)
        space[i] = x + i;
    x = walk(x, depth);
    return x + space[length - 1];
}

/* Needs its stack realigned, which makes its frame one that only the frame pointer finds again. */
KEPT static uint64_t aligned_step(uint64_t x, int depth)
{
    __attribute__((aligned(64))) volatile uint64_t line[8] = {x};
    x = walk(x, depth);
    return x + line[0];
}

KEPT static uint64_t tail_step(uint64_t x, int depth)
{
    return walk(x + 1, depth);
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right, x = a ^ b;
    compared++;
    BURN(x, 200 + a % 200);
    kept_result = x;
    return (a > b) - (a < b);
}

KEPT static uint64_t sorting_step(uint64_t x, int depth)
{
    uint64_t numbers[16];
    size_t count = 2 + chance() % 14;
    for (size_t i = 0; i < count; i++)
        numbers[i] = chance();
    qsort(numbers, count, sizeof *numbers, compare);
    sorts++;
    x = walk(x, depth);
    return x + numbers[0];
}

int main(int argc, char **argv)
{
    double began = wall(), seconds = seconds_argument(argc, argv, 1, 1.0);
    while (thread_cpu() < seconds) {
        walks++;
        if (setjmp(landing) == 0)
            kept_result = walk(kept_result, (int)(chance() % 120));
    }
    printf("{\"program\":\"deep_and_shallow\",\"walks\":%ld,\"jumps\":%ld,\"sorts\":%ld,\"compared\":%ld,"
           "\"cpu_s\":%.6f,\"wall_s\":%.6f}\n",
           walks, jumps, sorts, compared, process_cpu(), wall() - began);
    return 0;
}

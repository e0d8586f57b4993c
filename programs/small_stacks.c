/*
 * Little stack: threads of the smallest size, and coroutines in the heap, that compute and wait. What lies
 * below their stack pointer is painted before and looked at afterwards.
 * small_stacks [SECONDS of each]
 *
 * Prints how many bytes below the stack pointer were written to by others (signal frames and what runs in
 * them) in each case, what the kernel needs for a signal frame at least, and whether memory beyond the
 * stacks is untouched.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

enum { PAINT = 0xa5, CANARY_BYTES = 8192, COROUTINE_BYTES = 16384, COROUTINES = 4 };

static double seconds;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int holding;

/* Bytes below `sp` down to `low` whose paint is gone. */
static size_t written_below(const unsigned char *low, const unsigned char *sp)
{
    while (low < sp && *low == PAINT)
        low++;
    return (size_t)(sp - low);
}

/* Computes without a call, so that nothing of this program touches the paint. */
__attribute__((noinline, noclone)) static uint64_t compute(uint64_t steps)
{
    uint64_t x = 1;
    BURN(x, steps);
    return x;
}

struct report {
    size_t written;
};

__attribute__((noinline, noclone)) static void paint_and_compute(unsigned char *low, struct report *report)
{
    unsigned char *sp = __builtin_frame_address(0);
    unsigned char *from = sp - 512;
    for (unsigned char *at = low; at < from; at++)
        *(volatile unsigned char *)at = PAINT;
    kept_result = compute((uint64_t)(seconds * 6e8));
    report->written = written_below(low, from);
}

static void *small_thread(void *argument)
{
    pthread_attr_t attributes;
    void *low;
    size_t size, guard;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    paint_and_compute((unsigned char *)low + guard, argument);
    return NULL;
}

static void *small_waiter(void *argument)
{
    struct report *report = argument;
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&mutex);
        holding = 1;
        struct timespec moment = {0, 100000};
        nanosleep(&moment, NULL);
        pthread_mutex_unlock(&mutex);
    }
    report->written = 0;
    return NULL;
}

static void in_thread(void *(*run)(void *), struct report *reports, int count)
{
    pthread_attr_t attributes;
    pthread_t threads[8];
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], &attributes, run, &reports[i]) != 0)
            exit(2);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
}

static ucontext_t home, contexts[COROUTINES];
static struct report of_coroutines[COROUTINES];
static unsigned char *stacks[COROUTINES];

static void coroutine(int number)
{
    paint_and_compute(stacks[number] + CANARY_BYTES, &of_coroutines[number]);
    for (int i = 0; i < 50; i++) {
        struct timespec moment = {0, 100000};
        nanosleep(&moment, NULL);
        swapcontext(&contexts[number], &home);
    }
}

static int canaries_live(void)
{
    for (int n = 0; n < COROUTINES; n++)
        for (int i = 0; i < CANARY_BYTES; i++)
            if (stacks[n][i] != PAINT || stacks[n][CANARY_BYTES + COROUTINE_BYTES + i] != PAINT)
                return 0;
    return 1;
}

static void in_coroutines(void)
{
    for (int n = 0; n < COROUTINES; n++) {
        stacks[n] = malloc(COROUTINE_BYTES + 2 * CANARY_BYTES);
        memset(stacks[n], PAINT, COROUTINE_BYTES + 2 * CANARY_BYTES);
        getcontext(&contexts[n]);
        contexts[n].uc_stack.ss_sp = stacks[n] + CANARY_BYTES;
        contexts[n].uc_stack.ss_size = COROUTINE_BYTES;
        contexts[n].uc_link = &home;
        makecontext(&contexts[n], (void (*)(void))coroutine, 1, n);
    }
    for (int round = 0; round < 40; round++)
        for (int n = 0; n < COROUTINES; n++)
            swapcontext(&home, &contexts[n]);
}

int main(int argc, char **argv)
{
    struct report small[1] = {{0}}, waiters[4] = {{0}};
    seconds = seconds_argument(argc, argv, 1, 0.4);
    in_thread(small_thread, small, 1);
    in_thread(small_waiter, waiters, 4);
    in_coroutines();
    size_t most = 0;
    for (int n = 0; n < COROUTINES; n++)
        most = of_coroutines[n].written > most ? of_coroutines[n].written : most;
    printf("{\"program\":\"small_stacks\",\"signal_frame_bytes\":%lu,\"thread_written_bytes\":%zu,"
           "\"coroutine_written_bytes\":%zu,\"canaries_live\":%d,\"cpu_s\":%.6f}\n",
           getauxval(AT_MINSIGSTKSZ), small[0].written, most, canaries_live(), process_cpu());
    return 0;
}

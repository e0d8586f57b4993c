/*
 * Waits that no library sees: system calls by their instruction, with a timeout or without restart, each of
 * which a signal would end with EINTR. Nobody sends this program one: it counts those that ended so, and
 * has none.
 * raw_waits [SECONDS] [BUSY_US] [FIRST_MS] [RING_US]
 *
 * A thread for each kind computes FIRST_MS at first, then BUSY_US (uneven) and waits a millisecond in turn,
 * for so many seconds. With a large BUSY_US it waits so rarely that it looks as if it never did. At a ring of
 * io_uring it waits RING_US.
 */
#include "truth.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#define SYS_io_uring_enter 426
#endif

/* The number stands in the instruction before, as in the C library's own functions. */
#define RAW(number, a, b, c, d, e, f)                                                                        \
    ({                                                                                                       \
        register long fourth __asm__("r10") = (long)(d);                                                     \
        register long fifth __asm__("r8") = (long)(e);                                                       \
        register long sixth __asm__("r9") = (long)(f);                                                       \
        long result;                                                                                         \
        __asm__ volatile("movl %1, %%eax\n\tsyscall"                                                         \
                         : "=&a"(result)                                                                     \
                         : "i"(number), "D"((long)(a)), "S"((long)(b)), "d"((long)(c)), "r"(fourth),         \
                           "r"(fifth), "r"(sixth)                                                            \
                         : "rcx", "r11", "memory");                                                          \
        result;                                                                                              \
    })

static const struct timespec MILLISECOND = {0, 1000000};
static struct timespec of_ring = {0, 1000000};
static double seconds, busy_s, first_s;

static long by_poll(int file)
{
    struct pollfd of = {file, POLLIN, 0};
    return RAW(SYS_poll, &of, 1, 1, 0, 0, 0);
}
static long by_sleep(int file) { (void)file; return RAW(SYS_nanosleep, &MILLISECOND, 0, 0, 0, 0, 0); }
static long by_read(int file) { char byte; return RAW(SYS_read, file, &byte, 1, 0, 0, 0); }
static long by_ring(int file)
{
    /* Waits for a completion that never comes: IORING_ENTER_GETEVENTS, IORING_ENTER_EXT_ARG. */
    struct {
        uint64_t mask;
        uint32_t mask_bytes, rest;
        uint64_t time;
    } argument = {0, 0, 0, (uint64_t)&of_ring};
    return RAW(SYS_io_uring_enter, file, 0, 1, 1 | 8, &argument, sizeof argument);
}

struct kind {
    const char *name;
    long (*wait)(int file);
    int file;
    uint64_t calls, interrupted, short_sleeps;
    pthread_t thread;
};
static struct kind kinds[] = {{.name = "poll", .wait = by_poll},
                              {.name = "nanosleep", .wait = by_sleep},
                              {.name = "read", .wait = by_read},
                              {.name = "io_uring_enter", .wait = by_ring}};
#define KINDS (sizeof kinds / sizeof *kinds)

KEPT static void *run(void *argument)
{
    struct kind *kind = argument;
    uint64_t state = 88172645463325252 + (uint64_t)(kind - kinds), x = 1;
    double end = wall() + seconds;
    burn_cpu(first_s);
    uint64_t mean = (uint64_t)(busy_s * 1e6 / 20) + 2;
    while (wall() < end) {
        for (uint64_t units = uneven(&state, mean); units > 0; units--)
            BURN(x, UNIT);
        double began = wall();
        long result = kind->wait(kind->file);
        kind->calls++;
        kind->interrupted += result == -EINTR;
        const struct timespec *asked = kind->wait == by_ring ? &of_ring : &MILLISECOND;
        kind->short_sleeps += result != -EINTR && wall() - began < 0.9e-9 * (double)asked->tv_nsec;
    }
    kept_result = x;
    return NULL;
}

int main(int argc, char **argv)
{
    seconds = seconds_argument(argc, argv, 1, 1.0);
    busy_s = 1e-6 * seconds_argument(argc, argv, 2, 500);
    first_s = 1e-3 * seconds_argument(argc, argv, 3, 0);
    of_ring.tv_nsec = (long)(1e3 * seconds_argument(argc, argv, 4, 1000));
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return 1;
    struct timeval timeout = {0, 1000};
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    char setup[120];
    memset(setup, 0, sizeof setup);
    int ring = (int)syscall(SYS_io_uring_setup, 4, setup);
    kinds[0].file = kinds[2].file = pair[0];
    kinds[3].file = ring;
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].file >= 0 && pthread_create(&kinds[i].thread, NULL, run, &kinds[i]) != 0)
            abort();
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].file >= 0)
            pthread_join(kinds[i].thread, NULL);
    printf("{\"program\":\"raw_waits\",\"kinds\":[");
    int comma = 0;
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i].file < 0)
            continue;
        printf("%s{\"name\":\"%s\",\"calls\":%llu,\"interrupted\":%llu,\"too_short\":%llu}",
               comma++ ? "," : "", kinds[i].name, (unsigned long long)kinds[i].calls,
               (unsigned long long)kinds[i].interrupted, (unsigned long long)kinds[i].short_sleeps);
    }
    printf("]}\n");
    return 0;
}

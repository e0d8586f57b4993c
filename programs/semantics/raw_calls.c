/* System calls through the C library's syscall(): what languages with locks of their own use. */
#include "cases.h"

#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static _Atomic uint32_t word;

static long futex(int operation, uint32_t value, const struct timespec *time, uint32_t bits)
{
    return syscall(SYS_futex, &word, operation, value, time, NULL, bits);
}

static void *wait_for_word(void *argument)
{
    int operation = *(int *)argument;
    struct timespec until = ahead(CLOCK_MONOTONIC, LATER_MS);
    arrive();
    while (word == 0)
        futex(operation | FUTEX_PRIVATE_FLAG, 0, operation == FUTEX_WAIT_BITSET ? &until : NULL,
              FUTEX_BITSET_MATCH_ANY);
    event("woken");
    return NULL;
}

static void futexes(void)
{
    struct timespec shortly = {0, SHORTLY_MS * 1000000}, never = {0, 1000000000};
    struct timespec past = ahead(CLOCK_MONOTONIC, EARLIER_MS), later = ahead(CLOCK_MONOTONIC, LATER_MS);
    outcome("futex wait, another value", "-1 EAGAIN", "%s", OUT(futex(FUTEX_WAIT_PRIVATE, 7, NULL, 0)));
    outcome("futex wait, soon", "-1 ETIMEDOUT", "%s",
            NOT_EARLY(OUT(futex(FUTEX_WAIT_PRIVATE, 0, &shortly, 0))));
    outcome("futex wait, no such time", "-1 EINVAL", "%s", OUT(futex(FUTEX_WAIT_PRIVATE, 0, &never, 0)));
    outcome("futex wait until, past", "-1 ETIMEDOUT", "%s",
            OUT(futex(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &past, FUTEX_BITSET_MATCH_ANY)));
    outcome("futex wait until, no bits", "-1 EINVAL", "%s",
            OUT(futex(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &past, 0)));
    outcome("futex wake nobody", "0", "%s", OUT(futex(FUTEX_WAKE_PRIVATE, INT_MAX, NULL, 0)));
    outcome("futex, no such operation", "-1 ENOSYS", "%s", OUT(futex(77, 0, NULL, 0)));
    outcome("futex wait, bad pointer", "-1 EFAULT", "%s",
            OUT(syscall(SYS_futex, nowhere, FUTEX_WAIT, 0, NULL, NULL, 0)));
    outcome("futex wait, crooked pointer", "-1 EINVAL", "%s",
            OUT(syscall(SYS_futex, (char *)&word + 1, FUTEX_WAIT, 0, NULL, NULL, 0)));
    handle(SIGUSR1, count_signal, 0);
    outcome("futex wait, interrupted", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(futex(FUTEX_WAIT_PRIVATE, 0, NULL, 0))));
    outcome("futex wait until, interrupted", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(futex(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &later,
                                           FUTEX_BITSET_MATCH_ANY))));

    int operations[] = {FUTEX_WAIT, FUTEX_WAIT_BITSET};
    for (int i = 0; i < 2; i++) {
        struct worker waiter;
        word = 0;
        start(&waiter, wait_for_word, &operations[i]);
        until_asleep(&waiter);
        word = 1;
        event("waking");
        event(number(futex(FUTEX_WAKE_PRIVATE, 1, NULL, 0)));
        finish(&waiter);
        const char *order = events();
        /* The waker's count and the waiter's line come in any order. */
        int right = strcmp(order, "waking 1 woken") == 0 || strcmp(order, "waking woken 1") == 0;
        outcome(i == 0 ? "futex wait, woken" : "futex wait until, woken", "one woken", "%s",
                right ? "one woken" : order);
    }
}

static void others(void)
{
    int ends[2];
    char byte = 0;
    outcome("syscall getpid", "1", "%d", syscall(SYS_getpid) == getpid());
    outcome("syscall, no such number", "-1 ENOSYS", "%s", OUT(syscall(100000)));
    char *memory =
        (char *)syscall(SYS_mmap, NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    outcome("syscall mmap, six arguments", "1", "%d", memory != MAP_FAILED && (memory[8191] = 1));
    outcome("syscall munmap", "0", "%s", OUT(syscall(SYS_munmap, memory, 8192)));
    if (syscall(SYS_pipe2, ends, O_NONBLOCK) != 0)
        return;
    outcome("syscall read when empty", "-1 EAGAIN", "%s", OUT(syscall(SYS_read, ends[0], &byte, 1)));
    outcome("syscall write", "1", "%s", OUT(syscall(SYS_write, ends[1], "s", 1)));
    outcome("syscall read", "1", "%s", OUT(syscall(SYS_read, ends[0], &byte, 1)));
    outcome("syscall close", "0", "%s", OUT(syscall(SYS_close, ends[0])));
    outcome("syscall close again", "-1 EBADF", "%s", OUT(syscall(SYS_close, ends[0])));
    close(ends[1]);
    errno = 1234;
    syscall(SYS_gettid);
    futex(FUTEX_WAKE_PRIVATE, 1, NULL, 0);
    outcome("syscall: errno stays", "1234", "%d", errno);
    struct timespec shortly = {0, SHORTLY_MS * 1000000};
    outcome("syscall ppoll, soon", "0", "%s", NOT_EARLY(OUT(syscall(SYS_ppoll, NULL, 0, &shortly, NULL, 0))));
}

void raw_calls(void)
{
    futexes();
    others();
}

/*
 * Operations inside another one: a signal handler polls, writes and waits while its thread waits for signals.
 * Prints what was called inside each of two waits, by its own clock.
 */
#include "truth.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#define ROUNDS 20
#define EACH 10

struct calls {
    long count, errors, bytes;
    double seconds;
};

static struct calls polls, writes, others;
static int pipe_ends[2];
static char data[100];
static sigjmp_buf before_poll;
static double outer_s;

static void timed_poll(int timeout_ms)
{
    double begin = wall();
    poll(NULL, 0, timeout_ms);
    polls.seconds += wall() - begin;
    polls.count++;
}

static void timed_write(int to, size_t bytes)
{
    double begin = wall();
    ssize_t written = write(to, data, bytes);
    writes.seconds += wall() - begin;
    writes.count++;
    writes.errors += written < 0;
    writes.bytes += written < 0 ? 0 : written;
}

static void drain(void)
{
    /* No hook has system calls that a program makes by their numbers. */
    static char taken[EACH * sizeof data];
    syscall(SYS_read, pipe_ends[0], taken, sizeof taken);
}

static void polls_and_writes(int signal)
{
    (void)signal;
    for (int n = 0; n < EACH; n++) {
        timed_poll(1);
        timed_write(pipe_ends[1], sizeof data);
    }
    timed_write(-1, 1);
    drain();
}

/* What is called inside of what is inside is part of that. */
static void deeper(int signal)
{
    (void)signal;
    (void)!write(pipe_ends[1], data, 1);
}

static void jumps(int signal)
{
    (void)signal;
    siglongjmp(before_poll, 1);
}

static void nests(int signal)
{
    (void)signal;
    sigset_t none;
    sigemptyset(&none);
    double begin = wall();
    raise(SIGUSR2);
    struct timespec soon = {1, 0};
    int result = ppoll(NULL, 0, &soon, &none);
    others.seconds += wall() - begin;
    others.count++;
    others.errors += result < 0;
    drain();
    timed_poll(2);
}

static void leaves_by_a_jump(int signal)
{
    (void)signal;
    sigset_t none;
    sigemptyset(&none);
    struct timespec soon = {1, 0};
    if (sigsetjmp(before_poll, 1) == 0) {
        raise(SIGQUIT);
        /* Left by a jump: nobody knows how long it was. */
        ppoll(NULL, 0, &soon, &none);
    }
    timed_poll(2);
}

/* A macro, so that the wait is called by the function that it is written in. */
#define WAIT_ONCE(number)                                                                                    \
    do {                                                                                                     \
        sigset_t but_deeper;                                                                                 \
        sigemptyset(&but_deeper);                                                                            \
        sigaddset(&but_deeper, SIGUSR2);                                                                     \
        sigaddset(&but_deeper, SIGQUIT);                                                                     \
        raise(number);                                                                                       \
        double begin = wall();                                                                               \
        sigsuspend(&but_deeper);                                                                             \
        outer_s += wall() - begin;                                                                           \
    } while (0)

KEPT static void wait_here(void)
{
    for (int round = 0; round < ROUNDS; round++)
        WAIT_ONCE(SIGUSR1);
    __asm__ volatile("");
}

KEPT static void wait_there(void)
{
    for (int round = 0; round < ROUNDS; round++)
        WAIT_ONCE(SIGHUP);
    __asm__ volatile("");
}

KEPT static void wait_elsewhere(void)
{
    for (int round = 0; round < ROUNDS; round++)
        WAIT_ONCE(SIGINT);
    __asm__ volatile("");
}

static void handles(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(number, &action, NULL);
}

static void print(const char *name, const struct calls *calls)
{
    printf("\"%s\":{\"calls\":%ld,\"errors\":%ld,\"bytes\":%ld,\"seconds\":%.9f}", name, calls->count,
           calls->errors, calls->bytes, calls->seconds);
}

int main(void)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGUSR1);
    sigaddset(&ours, SIGUSR2);
    sigaddset(&ours, SIGQUIT);
    sigaddset(&ours, SIGHUP);
    sigaddset(&ours, SIGINT);
    sigprocmask(SIG_BLOCK, &ours, NULL);
    handles(SIGUSR1, polls_and_writes);
    handles(SIGHUP, nests);
    handles(SIGINT, leaves_by_a_jump);
    handles(SIGUSR2, deeper);
    handles(SIGQUIT, jumps);
    if (pipe(pipe_ends) != 0)
        return 1;
    wait_here();
    printf("{\"wait_here\":{");
    print("poll", &polls);
    printf(",");
    print("write", &writes);
    memset(&polls, 0, sizeof polls);
    memset(&writes, 0, sizeof writes);
    wait_there();
    printf("},\"wait_there\":{");
    print("poll", &polls);
    printf(",");
    print("ppoll", &others);
    memset(&polls, 0, sizeof polls);
    wait_elsewhere();
    printf("},\"wait_elsewhere\":{");
    print("poll", &polls);
    printf("},\"outer_s\":%.9f}\n", outer_s);
    return 0;
}

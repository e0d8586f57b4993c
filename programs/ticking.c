/*
 * A program with a timer of its own that expires at every tick of the kernel, as runtimes have that preempt
 * their threads, and profilers: at a tick the kernel prepares its handler and a sampler's on top of it.
 * ticking [SECONDS] [SIGNAL] [alternate]
 *
 * A thread computes in work() and now and then sleeps for a millisecond by the system call's instruction,
 * which no library sees. The handler, if asked for on an alternate stack, counts and returns. Prints what
 * work() cost by the thread's CPU clock, and how many signals came.
 */
#include "truth.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static volatile uint64_t signals_came;

KEPT static void handle(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    signals_came++;
}

static void sleep_unseen(void)
{
    struct timespec left = {0, 1000000};
#ifdef __x86_64__
    long result;
    do
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"((long)SYS_nanosleep), "D"(&left), "S"(&left)
                         : "rcx", "r11", "memory");
    while (result == -EINTR);
#else
    while (syscall(SYS_nanosleep, &left, &left) != 0)
        ;
#endif
}

KEPT static uint64_t work(uint64_t x, uint64_t units)
{
    for (; units > 0; units--)
        BURN(x, UNIT);
    return x + 1;
}

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 1.0), cost = 0;
    int number = argc > 2 ? atoi(argv[2]) : SIGALRM;
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART | (argc > 3 ? SA_ONSTACK : 0);
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event._sigev_un._tid = (pid_t)thread_id();
    event.sigev_signo = number;
    timer_t timer;
    if (!stack.ss_sp || sigaltstack(&stack, NULL) != 0 || sigaction(number, &action, NULL) != 0 ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0)
        return 1;
    /* Shorter than any tick: it expires at each one. */
    static const struct itimerspec always = {{0, 500000}, {0, 500000}};
    timer_settime(timer, 0, &always, NULL);

    uint64_t state = 88172645463325252, x = 1;
    while (cost < seconds) {
        double before = thread_cpu();
        x = work(x, uneven(&state, 300));
        cost += thread_cpu() - before;
        sleep_unseen();
    }
    static const struct itimerspec never;
    timer_settime(timer, 0, &never, NULL);
    kept_result = x;
    printf("{\"program\":\"ticking\",\"work_s\":%.6f,\"signals\":%llu,\"cpu_s\":%.6f}\n", cost,
           (unsigned long long)signals_came, process_cpu());
    return 0;
}

/* Threads that ask to be traced (PTRACE_TRACEME) and then work, by a parent that does not look at signals.
 * Prints as JSON at which signal children that work and then load a program stop first.
 * traced_children SECONDS [self|signal]: with "self" the program asks for it in its own process, and nobody
 * ever looks; with "signal" it also sends itself signals that it handles, and is killed after 60 seconds. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void work(double seconds)
{
    struct timespec t;
    volatile double x = 0;
    do {
        for (int i = 0; i < 10000; i++)
            x += i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while ((double)t.tv_sec + (double)t.tv_nsec * 1e-9 < seconds);
}

enum way { BY_FUNCTION, BY_CALL, BEHIND_A_RECORD };

/* The first signal at which a child stands, which then loads `true`; 0 = it ended without. */
static int first_stop(double seconds, enum way way)
{
    pid_t child = fork();
    if (child == 0) {
        /* A child that has slept has a record of its own. */
        if (way == BEHIND_A_RECORD)
            usleep(1000);
        if (way == BY_CALL)
            syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
        else
            ptrace(PTRACE_TRACEME, 0, 0, 0);
        work(seconds);
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    int stop = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ;
    return stop;
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    (void)number;
    handled++;
}

static int with_signals(void)
{
    pid_t self = getpid();
    pid_t watchdog = fork();
    if (watchdog == 0) {
        sleep(60);
        kill(self, SIGKILL);
        _exit(0);
    }
    signal(SIGUSR1, on_signal);
    long result = ptrace(PTRACE_TRACEME, 0, 0, 0);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    printf("{\"result\":%ld,\"handled\":%d}\n", result, (int)handled);
    kill(watchdog, SIGKILL);
    waitpid(watchdog, NULL, 0);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[2], "signal") == 0)
        return with_signals();
    double seconds = argc > 1 ? atof(argv[1]) : 0.1;
    if (argc > 2 && strcmp(argv[2], "self") == 0) {
        long result = ptrace(PTRACE_TRACEME, 0, 0, 0);
        work(seconds);
        printf("{\"result\":%ld}\n", result);
        return 0;
    }
    int by_function = first_stop(seconds, BY_FUNCTION), by_call = first_stop(seconds, BY_CALL);
    int behind = first_stop(seconds, BEHIND_A_RECORD);
    printf("{\"by_function\":%d,\"by_call\":%d,\"behind_a_record\":%d,\"of_exec\":%d}\n", by_function,
           by_call, behind, SIGTRAP);
    return 0;
}

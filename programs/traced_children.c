/* Threads that ask to be traced (PTRACE_TRACEME) and then work, by a parent that does not look at signals.
 * Prints as JSON at which signal children that work and then load a program stop first.
 * traced_children SECONDS [self]: with "self" the program asks for it in its own process, and nobody ever
 * looks. */
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

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.1;
    if (argc > 2 && strcmp(argv[2], "self") == 0) {
        long result = ptrace(PTRACE_TRACEME, 0, 0, 0);
        work(seconds);
        printf("{\"result\":%ld}\n", result);
        return 0;
    }
    int by_function = first_stop(seconds, BY_FUNCTION), by_call = first_stop(seconds, BY_CALL);
    int behind = first_stop(seconds, BEHIND_A_RECORD);
    printf("{\"by_function\":%d,\"by_call\":%d,\"behind_a_record\":%d,\"of_exec\":%d}\n", by_function, by_call,
           behind, SIGTRAP);
    return 0;
}

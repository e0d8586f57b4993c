/*
 * Children that have little to say: does each of them end as it should, and is each of them known to the run?
 *
 * brief_children CASE COUNT: forks COUNT children, one after the other, and waits for each. What a child
 * does is the case. At its end the program prints as JSON how many children there were, what they used by
 * the kernel's count, and what became of them.
 *
 *   exits       _exit with a status of its own
 *   returns     exit, with handlers of exit
 *   burns       computes for a while without any call, then _exit
 *   execs       closes, duplicates and blocks as a shell does, then loads another image, which ends at once
 *   fails       tries to load an image that the kernel refuses, then _exit
 *   forks       forks a child that does the same once more, and waits for it
 *   killed      is killed before it could say anything
 *   writes      writes to a pipe
 *   vforks      has a child in its own memory
 *   raw         forks by a system call of its own, which nobody tells of
 *   handles     is interrupted by its own timer's handler a few times
 *   names       blocks and takes up SIGURG, by name
 *   threads     makes a thread
 */
#define _GNU_SOURCE
#include "truth.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static int standing_in = -1;

static void count(int signal) {
    (void)signal;
    handled++;
}

static void burn_for(double seconds) {
    struct timespec now;
    double end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    end = now.tv_sec + now.tv_nsec / 1e9 + seconds;
    do {
        for (volatile int i = 0; i < 20000; i++) {
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec + now.tv_nsec / 1e9 < end);
}

static void *nothing(void *argument) { return argument; }

static void as_a_shell(void) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    struct sigaction plain;
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    sigaction(SIGINT, &plain, NULL);
    sigaction(SIGTSTP, &plain, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    int file = dup2(standing_in, 9);
    close(file);
    close(-1);
    fflush(stdout);
}

/* What a child does; its status. */
static int child(const char *what, int number) {
    if (!strcmp(what, "exits")) {
        as_a_shell();
        return number % 7;
    }
    if (!strcmp(what, "returns"))
        exit(number % 7);
    if (!strcmp(what, "burns")) {
        burn_for(0.03);
        return 0;
    }
    if (!strcmp(what, "execs")) {
        as_a_shell();
        execl("/bin/true", "true", (char *)NULL);
        return 99;
    }
    if (!strcmp(what, "fails")) {
        char *arguments[] = {"empty", NULL};
        execv("/proc/self/fd/8", arguments);
        return errno == ENOEXEC || errno == EACCES || errno == ETXTBSY ? 0 : 98;
    }
    if (!strcmp(what, "forks")) {
        int status = -1;
        pid_t inner = fork();
        if (inner == 0)
            _exit(number % 5);
        if (waitpid(inner, &status, 0) != inner || WEXITSTATUS(status) != number % 5)
            return 97;
        return 0;
    }
    if (!strcmp(what, "killed")) {
        raise(SIGKILL);
        return 96;
    }
    if (!strcmp(what, "writes"))
        return write(standing_in, "x", 1) == 1 ? 0 : 95;
    if (!strcmp(what, "vforks")) {
        int status = -1;
        pid_t inner = vfork();
        if (inner == 0)
            _exit(3);
        return waitpid(inner, &status, 0) == inner && WEXITSTATUS(status) == 3 ? 0 : 94;
    }
    if (!strcmp(what, "handles")) {
        struct itimerval often = {{0, 500}, {0, 500}};
        signal(SIGPROF, count);
        setitimer(ITIMER_PROF, &often, NULL);
        while (handled < 3)
            burn_for(0.001);
        return 0;
    }
    if (!strcmp(what, "names")) {
        sigset_t set, now;
        signal(SIGURG, count);
        sigemptyset(&set);
        sigaddset(&set, SIGURG);
        sigprocmask(SIG_BLOCK, &set, NULL);
        raise(SIGURG);
        if (handled)
            return 93;
        sigprocmask(SIG_BLOCK, NULL, &now);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        burn_for(0.01);
        return handled == 1 && sigismember(&now, SIGURG) ? 0 : 92;
    }
    if (!strcmp(what, "threads")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
            return 91;
        return 0;
    }
    return 90;
}

int main(int arguments, char **argument) {
    if (arguments < 3)
        return 2;
    const char *what = argument[1];
    int children = atoi(argument[2]), statuses = 0, signals = 0, as_expected = 0;
    int ends[2];
    if (pipe(ends))
        return 2;
    standing_in = ends[1];
    if (!strcmp(what, "fails")) {
        int empty = open("/tmp", O_TMPFILE | O_RDWR, 0700);
        if (empty < 0 || dup2(empty, 8) != 8)
            return 2;
    }
    for (int i = 0; i < children; i++) {
        int status = 0, raw = !strcmp(what, "raw");
        pid_t pid = raw ? (pid_t)syscall(SYS_fork) : fork();
        if (pid == 0)
            _exit(raw ? 0 : child(what, i));
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            return 3;
        signals += WIFSIGNALED(status);
        statuses += WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        int wanted = !strcmp(what, "exits") || !strcmp(what, "returns") ? i % 7 : 0;
        as_expected += !strcmp(what, "killed") ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                                               : WIFEXITED(status) && WEXITSTATUS(status) == wanted;
    }
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    printf("{\"pid\": %d, \"children\": %d, \"as_expected\": %d, \"signals\": %d, \"statuses\": %d, "
           "\"cpu_s\": %.6f}\n",
           getpid(), children, as_expected, signals, statuses,
           used.ru_utime.tv_sec + used.ru_stime.tv_sec +
               (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
    return as_expected == children ? 0 : 1;
}

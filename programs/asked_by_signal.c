/*
 * A program that gets SIGUSR1 and SIGUSR2, and what becomes of them.
 * asked_by_signal CASE
 *
 * nothing  has no use for them: gets each from a child while it sleeps, polls and waits for a semaphore,
 *          calls that a handler without a restart would end; says what action it finds before and after.
 *          With them, and alone, it gets SIGURG, which is ignored by default and no reason to end a call
 * handler  counts them by a handler of its own
 * ignored  ignores them
 * waits    blocks them and waits for them
 * fork     has a child that counts them by a handler, and none itself
 */
#define _GNU_SOURCE
#include "truth.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static volatile sig_atomic_t counts[64];

static void count(int signal) { counts[signal]++; }

static const char *action_of(int signal)
{
    struct sigaction action;
    sigaction(signal, NULL, &action);
    return action.sa_handler == SIG_DFL   ? "default"
           : action.sa_handler == SIG_IGN ? "ignored"
           : action.sa_handler == count   ? "own"
                                          : "somebody else's";
}

static void say_actions(void) { printf("actions %s %s\n", action_of(SIGUSR1), action_of(SIGUSR2)); }

/* A child sends the caller both signals after a while, and once more so that a pause is over. The third one
 * waits until the handlers of the first two have returned. */
static pid_t send_soon(int times)
{
    fflush(stdout);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        for (int n = 0; n < times; n++) {
            usleep(25000);
            kill(parent, SIGURG);
            usleep(25000);
            kill(parent, SIGUSR1);
            kill(parent, SIGUSR2);
            kill(parent, SIGURG);
            usleep(50000);
            kill(parent, SIGUSR2);
            kill(parent, SIGURG);
        }
        _exit(0);
    }
    return child;
}

/* Whether a call lasted as long as it was meant to, and how it ended. */
static void say_call(const char *what, double begin, double seconds, int result)
{
    double lasted = wall() - begin;
    printf("%s %s %s\n", what, result == 0 ? "ended" : strerror(errno),
           lasted >= seconds ? "in time" : "early");
}

static void nothing(void)
{
    say_actions();
    pid_t child = send_soon(3);
    double begin = wall();
    int result = usleep(400000);
    say_call("sleep", begin, 0.4, result);
    waitpid(child, NULL, 0);
    child = send_soon(3);
    begin = wall();
    result = poll(NULL, 0, 400);
    say_call("poll", begin, 0.399, result);
    waitpid(child, NULL, 0);
    sem_t never;
    sem_init(&never, 0, 0);
    child = send_soon(3);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 400000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    begin = wall();
    result = sem_timedwait(&never, &until);
    say_call("semaphore", begin, 0.399, result);
    waitpid(child, NULL, 0);
    /* Setting the default again changes nothing. */
    signal(SIGUSR1, SIG_DFL);
    raise(SIGUSR1);
    say_actions();
}

static void counted(void)
{
    for (int n = 0; n < 5; n++) {
        raise(SIGUSR1);
        raise(SIGUSR2);
    }
    printf("counted %d %d\n", (int)counts[SIGUSR1], (int)counts[SIGUSR2]);
}

static void awaited(void)
{
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    sigprocmask(SIG_BLOCK, &both, NULL);
    for (int n = 0; n < 5; n++) {
        kill(getpid(), SIGUSR1);
        kill(getpid(), SIGUSR2);
        int first = 0, second = 0;
        sigwait(&both, &first);
        sigwait(&both, &second);
        counts[first]++;
        counts[second]++;
    }
    printf("counted %d %d\n", (int)counts[SIGUSR1], (int)counts[SIGUSR2]);
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "nothing";
    if (!strcmp(which, "nothing"))
        nothing();
    else if (!strcmp(which, "waits"))
        awaited();
    else if (!strcmp(which, "fork")) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            signal(SIGUSR1, count);
            signal(SIGUSR2, count);
            counted();
            return 0;
        }
        waitpid(child, NULL, 0);
        say_actions();
    } else {
        void (*handler)(int) = !strcmp(which, "ignored") ? SIG_IGN : count;
        signal(SIGUSR1, handler);
        signal(SIGUSR2, handler);
        say_actions();
        counted();
    }
    return 0;
}

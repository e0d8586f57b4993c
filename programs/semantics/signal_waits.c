/* Waiting for signals: sigwait, sigwaitinfo, sigtimedwait, sigsuspend, pause, signalfd. */
#include "cases.h"

#include <sys/signalfd.h>

static sigset_t only(int number)
{
    sigset_t set;
    sigemptyset(&set);
    if (number != 0)
        sigaddset(&set, number);
    return set;
}

static void block(int number)
{
    sigset_t set = only(number);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static int is_blocked(int number)
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, number);
}

static void *wait_for_signal(void *argument)
{
    sigset_t set = only(SIGUSR2);
    int number = 0;
    (void)argument;
    arrive();
    int error = sigwait(&set, &number);
    event(error == 0 && number == SIGUSR2 ? "signal" : "failed");
    return NULL;
}

static void *wait_for_info(void *argument)
{
    sigset_t set = only(SIGUSR2);
    siginfo_t info;
    struct timespec minute = {60, 0};
    arrive();
    int number = argument == NULL ? sigwaitinfo(&set, &info) : sigtimedwait(&set, &info, &minute);
    event(number == SIGUSR2 && info.si_value.sival_int == 42 && info.si_code == SI_QUEUE ? "signal with value"
                                                                                         : "failed");
    return NULL;
}

static void accepted(void)
{
    sigset_t usr2 = only(SIGUSR2), kill_only = only(SIGKILL);
    struct timespec none = {0, 0}, shortly = {0, SHORTLY_MS * 1000000}, never = {0, 1000000000},
                    minute = {60, 0};
    siginfo_t info;
    int got = 0;
    pthread_kill(pthread_self(), SIGUSR2);
    outcome("sigwait, pending", "0 right", "%s",
            BOTH(ERR(sigwait(&usr2, &got)), got == SIGUSR2 ? "right" : "wrong"));
    outcome("sigtimedwait, no time", "-1 EAGAIN", "%s", OUT(sigtimedwait(&usr2, &info, &none)));
    outcome("sigtimedwait, soon", "-1 EAGAIN", "%s", NOT_EARLY(OUT(sigtimedwait(&usr2, &info, &shortly))));
    outcome("sigtimedwait, no such time", "-1 EINVAL", "%s", OUT(sigtimedwait(&usr2, &info, &never)));
    outcome("sigtimedwait for SIGKILL", "-1 EAGAIN", "%s", OUT(sigtimedwait(&kill_only, &info, &none)));
    handle(SIGUSR1, count_signal, 0);
    outcome("sigtimedwait, interrupted", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(sigtimedwait(&usr2, &info, &minute))));
    outcome("sigwaitinfo, interrupted", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(sigwaitinfo(&usr2, &info))));
    errno = 1234;
    pthread_kill(pthread_self(), SIGUSR2);
    sigwait(&usr2, &got);
    outcome("sigwait: errno stays", "1234", "%d", errno);

    struct worker waiter;
    start(&waiter, wait_for_signal, NULL);
    until_asleep(&waiter);
    event("sending");
    pthread_kill(waiter.thread, SIGUSR2);
    finish(&waiter);
    outcome("sigwait, woken", "sending signal", "%s", events());
    for (int timed = 0; timed < 2; timed++) {
        start(&waiter, wait_for_info, timed ? &waiter : NULL);
        until_asleep(&waiter);
        pthread_sigqueue(waiter.thread, SIGUSR2, (union sigval){.sival_int = 42});
        finish(&waiter);
        outcome(timed ? "sigtimedwait, woken" : "sigwaitinfo, woken", "signal with value", "%s", events());
    }
    /* Sent to the process: the only thread that waits gets it. */
    start(&waiter, wait_for_signal, NULL);
    until_asleep(&waiter);
    kill(getpid(), SIGUSR2);
    finish(&waiter);
    outcome("sigwait, sent to the process", "signal", "%s", events());
}

static void suspended(void)
{
    sigset_t none = only(0);
    handled = 0;
    handle(SIGUSR2, count_signal, 0);
    pthread_kill(pthread_self(), SIGUSR2);
    outcome("sigsuspend, pending", "-1 EINTR", "%s", OUT(sigsuspend(&none)));
    outcome("sigsuspend: handled, and blocked again", "1 1", "%d %d", (int)handled, is_blocked(SIGUSR2));
    outcome("sigsuspend, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(sigsuspend(&none))));
    outcome("pause, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(pause())));
    handle(SIGUSR1, count_signal, SA_RESTART);
    outcome("pause, interrupted with restart", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(pause())));
    outcome("signals handled", "4", "%d", (int)handled);
}

static void by_file(void)
{
    sigset_t usr2 = only(SIGUSR2);
    struct signalfd_siginfo info = {0};
    int file = signalfd(-1, &usr2, SFD_NONBLOCK | SFD_CLOEXEC);
    outcome("signalfd, none", "-1 EAGAIN", "%s", OUT(read(file, &info, sizeof info)));
    pthread_kill(pthread_self(), SIGUSR2);
    outcome("signalfd, pending", "1 1", "%s",
            BOTH(number(read(file, &info, sizeof info) == (ssize_t)sizeof info),
                 number(info.ssi_signo == SIGUSR2)));
    close(file);
}

/* What a program asks about its signals is what it set. */
static void actions(void)
{
    struct sigaction action;
    static const int numbers[] = {SIGURG, SIGPROF, SIGALRM, SIGIO, SIGCHLD, SIGTERM};
    int defaults = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaction(numbers[i], NULL, &action);
        defaults += action.sa_handler == SIG_DFL;
    }
    outcome("sigaction: all as at the start", "6", "%d", defaults);
    handle(SIGURG, count_signal, SA_NODEFER);
    sigaction(SIGURG, NULL, &action);
    outcome("sigaction: as set", "1 1", "%d %d", action.sa_handler == count_signal,
            (action.sa_flags & SA_NODEFER) != 0);
    handled = 0;
    for (int i = 0; i < 10; i++)
        raise(SIGURG);
    outcome("raise", "10", "%d", (int)handled);
    handle(SIGURG, SIG_DFL, 0);
    outcome("sigaction for SIGKILL", "-1 EINVAL", "%s", OUT(sigaction(SIGKILL, &action, NULL)));
}

void signal_waits(void)
{
    block(SIGUSR2);
    accepted();
    suspended();
    by_file();
    sigset_t usr2 = only(SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &usr2, NULL);
    actions();
}

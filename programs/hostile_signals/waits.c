/* Waits for signals, and waits that signals end. */
#include "cases.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>

static sigset_t awaited_set;
static volatile int received, wrong_sender;

static void *waits_for_them(void *how)
{
    int descriptor = -1;
    siginfo_t info;
    struct timespec limit = {20, 0};
    if ((long)how == 3)
        descriptor = signalfd(-1, &awaited_set, SFD_CLOEXEC);
    while (received < 50) {
        int number = 0, from = getpid();
        if ((long)how == 0)
            sigwait(&awaited_set, &number);
        if ((long)how == 1) {
            number = sigwaitinfo(&awaited_set, &info);
            from = info.si_pid;
        }
        if ((long)how == 2) {
            number = sigtimedwait(&awaited_set, &info, &limit);
            from = info.si_pid;
        }
        if ((long)how == 3) {
            struct signalfd_siginfo told;
            if (read(descriptor, &told, sizeof told) == sizeof told) {
                number = (int)told.ssi_signo;
                from = (int)told.ssi_pid;
            }
        }
        if (number <= 0)
            continue;
        wrong_sender += from != getpid();
        received++;
    }
    if (descriptor >= 0)
        close(descriptor);
    return NULL;
}

static void waits_for(int both)
{
    int numbers[] = {SIGURG, SIGWINCH};
    for (long how = 0; how < 4; how++) {
        sigset_t before;
        pthread_t thread;
        sigemptyset(&awaited_set);
        sigaddset(&awaited_set, SIGURG);
        if (both)
            sigaddset(&awaited_set, SIGWINCH);
        pthread_sigmask(SIG_BLOCK, &awaited_set, &before);
        received = wrong_sender = 0;
        pthread_create(&thread, NULL, waits_for_them, (void *)how);
        double until = wall() + 20;
        for (int i = 0; i < 50 && wall() < until; i++) {
            pthread_kill(thread, numbers[both ? i % 2 : 0]);
            while (received == i && wall() < until)
                burn_cpu(0.0002);
        }
        CHECK_IS(received, 50);
        if (received != 50)
            exit(1);
        pthread_join(thread, NULL);
        CHECK_IS(wrong_sender, 0);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
}

void waited_for(void) { waits_for(0); }

/* Leaves a sampler no signal at all. */
void both_waited_for(void) { waits_for(1); }

static volatile int awaited_number, stop_waiting;

static void *waits_for_all(void *argument)
{
    sigset_t all;
    (void)argument;
    sigfillset(&all);
    while (!stop_waiting) {
        int number = 0;
        if (sigwait(&all, &number) == 0)
            awaited_number = number;
    }
    return NULL;
}

/* As servers do: every signal blocked everywhere, and a thread that waits for all of them. */
void a_thread_for_all_signals(void)
{
    int numbers[] = {SIGUSR1, SIGWINCH, SIGURG, SIGTERM, SIGURG, SIGALRM, SIGRTMIN + 2, SIGWINCH, SIGURG};
    int count = sizeof numbers / sizeof numbers[0], received_all = 0;
    sigset_t all, before, now;
    pthread_t waiting, busy[2];
    double seconds = 0.3;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_create(&waiting, NULL, waits_for_all, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&busy[i], NULL, burns, &seconds);
    double until = wall() + 20;
    for (int i = 0; i < count; i++) {
        awaited_number = 0;
        kill(getpid(), numbers[i]);
        while (awaited_number != numbers[i] && wall() < until)
            burn_cpu(0.0005);
        received_all += awaited_number == numbers[i];
    }
    CHECK_IS(received_all, count);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK_IS(sigismember(&now, SIGURG), 1);
    CHECK_IS(sigismember(&now, SIGWINCH), 1);
    stop_waiting = 1;
    kill(getpid(), SIGUSR2);
    pthread_join(waiting, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(busy[i], NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A blocked signal without a handler waits as others do: it is pending, and an awaited one is received when
   it is asked for. */
void pending_without_a_handler(void)
{
    sigset_t urgent, before, pending;
    struct timespec moment = {0, 0};
    siginfo_t info;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_BLOCK, &urgent, &before);
    burn_cpu(0.03);
    raise(SIGURG);
    burn_cpu(0.03);
    sigpending(&pending);
    CHECK_IS(sigismember(&pending, SIGURG), 1);
    CHECK_IS(sigismember(&pending, SIGWINCH), 0);
    CHECK_IS(sigtimedwait(&urgent, &info, &moment), SIGURG);
    CHECK(info.si_pid == getpid());
    CHECK(sigtimedwait(&urgent, &info, &moment) == -1 && errno == EAGAIN);
    burn_cpu(0.03);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void on_alarm(int number) { hits[number]++; }

static void alarm_soon(void)
{
    struct itimerval soon = {{0, 0}, {0, 30000}};
    setitimer(ITIMER_REAL, &soon, NULL);
}

void waits_with_masks(void)
{
    sigset_t all, but_alarm, only_alarm;
    struct timespec little = {0, 60000000}, much = {20, 0};
    struct epoll_event event;
    pthread_t busy;
    double seconds = 0.5;
    sigfillset(&all);
    but_alarm = all;
    sigdelset(&but_alarm, SIGALRM);
    sigemptyset(&only_alarm);
    sigaddset(&only_alarm, SIGALRM);
    struct sigaction action = {.sa_handler = on_alarm};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    /* Blocked before there is a thread that could get it instead. */
    pthread_sigmask(SIG_BLOCK, &only_alarm, NULL);
    pthread_create(&busy, NULL, burns, &seconds);
    int poll_fd = epoll_create1(EPOLL_CLOEXEC);
    /* A mask that blocks all: nothing interrupts. */
    CHECK_IS(ppoll(NULL, 0, &little, &all), 0);
    CHECK_IS(pselect(0, NULL, NULL, NULL, &little, &all), 0);
    CHECK_IS(epoll_pwait(poll_fd, &event, 1, 60, &all), 0);
    /* A mask that lets the alarm through, and nothing else. */
    alarm_soon();
    CHECK(ppoll(NULL, 0, &much, &but_alarm) == -1 && errno == EINTR);
    alarm_soon();
    CHECK(pselect(0, NULL, NULL, NULL, &much, &but_alarm) == -1 && errno == EINTR);
    alarm_soon();
    CHECK(epoll_pwait(poll_fd, &event, 1, 20000, &but_alarm) == -1 && errno == EINTR);
    alarm_soon();
    CHECK(sigsuspend(&but_alarm) == -1 && errno == EINTR);
    CHECK_IS(hits[SIGALRM], 4);
    sigset_t now;
    pthread_sigmask(SIG_UNBLOCK, &only_alarm, &now);
    CHECK_IS(sigismember(&now, SIGALRM), 1);
    CHECK_IS(sigismember(&now, SIGURG), 0);
    close(poll_fd);
    pthread_join(busy, NULL);
}

/* Nobody's signal but the program's own ends a wait early, whatever burns beside it. */
void waits_are_not_cut_short(void)
{
    pthread_t busy;
    double seconds = 0.4;
    int early = 0;
    pthread_create(&busy, NULL, burns, &seconds);
    for (int i = 0; i < 100; i++) {
        struct timespec moment = {0, 1000000};
        early += nanosleep(&moment, NULL) != 0;
        early += poll(NULL, 0, 1) != 0;
        burn_cpu(0.001);
    }
    pthread_join(busy, NULL);
    CHECK_IS(early, 0);
}

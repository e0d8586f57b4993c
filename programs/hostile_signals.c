/*
 * A program that needs all of its signals: handlers of its own for those that a sampler may want, waits for them, masks in
 * every form, tiny alternate stacks, jumps out of handlers, timers. Each case counts exactly what it sent.
 * hostile_signals [CASE …]
 */
#include "hostile.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>

extern char **environ;

enum { RAISED = 200 };

static volatile sig_atomic_t hits[65], foreign;

/* Only what this process sent may arrive. */
static void count(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_pid == getpid() && (info->si_code == SI_TKILL || info->si_code == SI_USER || info->si_code == SI_QUEUE))
        hits[number]++;
    else
        foreign++;
}

static void count_plainly(int number) { hits[number]++; }

static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void *burns(void *seconds)
{
    burn_cpu(*(double *)seconds);
    return NULL;
}

static void nothing_set_at_the_start(void)
{
    int others = 0;
    for (int number = 1; number < 32; number++) {
        struct sigaction now;
        if (sigaction(number, NULL, &now) == 0 && (now.sa_handler != SIG_DFL || now.sa_flags != 0))
            others++;
    }
    CHECK_IS(others, 0);
    sigset_t mask, pending;
    burn_cpu(0.02);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    CHECK(sigisemptyset(&mask));
    CHECK(sigisemptyset(&pending));
    stack_t stack;
    sigaltstack(NULL, &stack);
    CHECK_IS(stack.ss_flags, SS_DISABLE);
}

static void own_handler(void)
{
    struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART}, before, now;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGURG, &action, &before);
    CHECK(before.sa_handler == SIG_DFL);
    sigaction(SIGURG, NULL, &now);
    CHECK(now.sa_sigaction == count);
    CHECK_IS(now.sa_flags & ~0x04000000, SA_SIGINFO | SA_RESTART);
    CHECK_IS(sigismember(&now.sa_mask, SIGUSR1), 1);
    CHECK_IS(sigismember(&now.sa_mask, SIGUSR2), 0);
    for (int i = 0; i < RAISED; i++) {
        raise(SIGURG);
        burn_cpu(0.0005);
    }
    CHECK_IS(hits[SIGURG], RAISED);
    CHECK_IS(foreign, 0);
    CHECK((void *)signal(SIGURG, SIG_IGN) == (void *)count);
    raise(SIGURG);
    CHECK(signal(SIGURG, count_plainly) == SIG_IGN);
    raise(SIGURG);
    CHECK_IS(hits[SIGURG], RAISED + 1);
}

static pthread_t main_thread;
static volatile int stop_sending;

static void *sends_both(void *argument)
{
    (void)argument;
    for (int i = 0; i < RAISED && !stop_sending; i++) {
        int urgent = hits[SIGURG], window = hits[SIGWINCH];
        pthread_kill(main_thread, SIGURG);
        pthread_kill(main_thread, SIGWINCH);
        /* One of each at a time, so that none is merged with another. */
        while ((hits[SIGURG] == urgent || hits[SIGWINCH] == window) && !stop_sending)
            usleep(50);
    }
    stop_sending = 1;
    return NULL;
}

static void both_numbers(void)
{
    pthread_t sender;
    struct sigaction now;
    main_thread = pthread_self();
    stop_sending = 0;
    handle(SIGURG, count, SA_RESTART);
    burn_cpu(0.05);
    handle(SIGWINCH, count, SA_RESTART);
    pthread_create(&sender, NULL, sends_both, NULL);
    double until = wall() + 20;
    while (!stop_sending && wall() < until)
        burn_cpu(0.002);
    stop_sending = 1;
    pthread_join(sender, NULL);
    CHECK_IS(hits[SIGURG], RAISED);
    CHECK_IS(hits[SIGWINCH], RAISED);
    CHECK_IS(foreign, 0);
    sigaction(SIGURG, NULL, &now);
    CHECK(now.sa_sigaction == count);
    sigaction(SIGWINCH, NULL, &now);
    CHECK(now.sa_sigaction == count);
    double seconds = 0.1;
    pthread_create(&sender, NULL, burns, &seconds);
    pthread_join(sender, NULL);
    CHECK_IS(foreign, 0);
}

/* Every signal that a sampler could want has a handler: one of each at a time, and many of the one that queues. */
static void every_number(void)
{
    int numbers[] = {SIGURG, SIGWINCH, SIGRTMAX};
    for (int i = 0; i < 3; i++)
        handle(numbers[i], count, SA_RESTART);
    for (int i = 0; i < RAISED; i++) {
        for (int j = 0; j < 3; j++)
            raise(numbers[j]);
        sigqueue(getpid(), SIGRTMAX, (union sigval){.sival_int = i});
        burn_cpu(0.0003);
    }
    CHECK_IS(hits[SIGURG], RAISED);
    CHECK_IS(hits[SIGWINCH], RAISED);
    CHECK_IS(hits[SIGRTMAX], 2 * RAISED);
    CHECK_IS(foreign, 0);
}

/* One image of many, each with handlers for the signals that do no harm when they are still pending in the next. */
static int chain(int left)
{
    char next[16];
    handle(SIGURG, count, SA_RESTART);
    handle(SIGWINCH, count, SA_RESTART);
    burn_cpu(0.006);
    if (left == 0)
        return 77;
    snprintf(next, sizeof next, "%d", left - 1);
    execl("/proc/self/exe", "hostile_signals", "chain", next, (char *)NULL);
    return 1;
}

static void exec_with_handlers(void)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(chain(60));
    waitpid(child, &status, 0);
    CHECK_IS(status, 77 << 8);
}

static volatile int default_inside;

static void looks_at_itself(int number)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    default_inside = now.sa_handler == SIG_DFL;
    hits[number]++;
}

static void once_only(void)
{
    struct sigaction action = {.sa_handler = looks_at_itself, .sa_flags = SA_RESETHAND}, now;
    sigemptyset(&action.sa_mask);
    sigaction(SIGURG, &action, NULL);
    burn_cpu(0.05);
    sigaction(SIGURG, NULL, &now);
    CHECK(now.sa_handler == looks_at_itself && (now.sa_flags & SA_RESETHAND) != 0);
    raise(SIGURG);
    raise(SIGURG);
    CHECK_IS(hits[SIGURG], 1);
    CHECK_IS(default_inside, 1);
    sigaction(SIGURG, NULL, &now);
    CHECK(now.sa_handler == SIG_DFL);
    burn_cpu(0.05);
}

static volatile int depth, deepest, entered;

static void nests(int number)
{
    depth++;
    deepest = depth > deepest ? depth : deepest;
    if (++entered < 5)
        raise(number);
    depth--;
}

static void nested(void)
{
    for (int i = 0; i < 2; i++) {
        int number = i == 0 ? SIGURG : SIGUSR1;
        struct sigaction action = {.sa_handler = nests, .sa_flags = SA_NODEFER};
        sigemptyset(&action.sa_mask);
        sigaction(number, &action, NULL);
        deepest = entered = 0;
        raise(number);
        CHECK_IS(deepest, 5);
        action.sa_flags = 0;
        sigaction(number, &action, NULL);
        deepest = entered = 0;
        raise(number);
        /* Each waits for the one before to return. */
        CHECK_IS(deepest, 1);
        CHECK_IS(entered, 5);
        burn_cpu(0.02);
        signal(number, SIG_DFL);
    }
}

static volatile int on_own_stack;
static unsigned char *alternate;
static size_t alternate_bytes;

static void computes_on_it(int number)
{
    unsigned char *here = __builtin_frame_address(0);
    stack_t stack;
    on_own_stack = here > alternate && here < alternate + alternate_bytes;
    sigaltstack(NULL, &stack);
    on_own_stack &= stack.ss_flags == SS_ONSTACK;
    uint64_t x = kept_result;
    BURN(x, 1000 * UNIT);
    kept_result = x;
    hits[number]++;
}

/* The least that the kernel needs, and 2 KiB for the handler. What lies below it is painted. */
static void tiny_alternate_stack(void)
{
    enum { GUARD = 65536 };
    alternate_bytes = getauxval(AT_MINSIGSTKSZ) + 2048;
    unsigned char *memory = malloc(GUARD + alternate_bytes);
    memset(memory, 0xa5, GUARD);
    alternate = memory + GUARD;
    stack_t stack = {.ss_sp = alternate, .ss_size = alternate_bytes}, disabled = {.ss_flags = SS_DISABLE};
    CHECK_IS(sigaltstack(&stack, NULL), 0);
    int numbers[] = {SIGUSR1, SIGURG, SIGWINCH};
    for (int i = 0; i < 3; i++) {
        struct sigaction action = {.sa_handler = computes_on_it, .sa_flags = SA_ONSTACK};
        sigemptyset(&action.sa_mask);
        sigaction(numbers[i], &action, NULL);
        for (int j = 0; j < 5; j++)
            raise(numbers[i]);
        CHECK_IS(hits[numbers[i]], 5);
        CHECK_IS(on_own_stack, 1);
    }
    int touched = 0;
    for (int i = 0; i < GUARD; i++)
        touched += memory[i] != 0xa5;
    CHECK_IS(touched, 0);
    sigaltstack(&disabled, NULL);
    free(memory);
}

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

static void waited_for(void) { waits_for(0); }

/* Leaves a sampler no signal at all. */
static void both_waited_for(void) { waits_for(1); }

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
static void a_thread_for_all_signals(void)
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

/* A blocked signal without a handler waits as others do: it is pending, and an awaited one is received when it is asked for. */
static void pending_without_a_handler(void)
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

static void blocked(void)
{
    sigset_t all, before, now, pending;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    CHECK(sigisemptyset(&before));
    burn_cpu(0.1);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    int kept = 0;
    for (int number = 1; number < 32; number++)
        kept += sigismember(&now, number);
    CHECK_IS(kept, 29);
    sigpending(&pending);
    CHECK(sigisemptyset(&pending));
    handle(SIGURG, count, 0);
    raise(SIGURG);
    burn_cpu(0.02);
    CHECK_IS(hits[SIGURG], 0);
    sigpending(&pending);
    CHECK_IS(sigismember(&pending, SIGURG), 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    burn_cpu(0.02);
    CHECK_IS(hits[SIGURG], 1);
    CHECK_IS(foreign, 0);
}

static volatile int blocked_inside;

static int standard_signals_in(const sigset_t *set)
{
    int count = 0;
    for (int number = 1; number < 32; number++)
        count += sigismember(set, number) == 1;
    return count;
}

static void under_a_full_mask(int number)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    blocked_inside = standard_signals_in(&now) == 29;
    /* Saved and put back, as functions do that block for a while. */
    pthread_sigmask(SIG_SETMASK, &now, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    blocked_inside &= standard_signals_in(&now) == 29;
    raise(SIGUSR2);
    burn_cpu(0.03);
    blocked_inside &= hits[SIGUSR2] == 0;
    hits[number]++;
}

static void mask_of_a_handler(void)
{
    struct sigaction action = {.sa_handler = under_a_full_mask}, now;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    handle(SIGUSR2, count, 0);
    sigaction(SIGUSR1, NULL, &now);
    int kept = 0;
    for (int number = 1; number < 32; number++)
        kept += sigismember(&now.sa_mask, number) == 1;
    CHECK_IS(kept, 29);
    raise(SIGUSR1);
    CHECK_IS(blocked_inside, 1);
    CHECK_IS(hits[SIGUSR2], 1);
    sigset_t after;
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    CHECK(sigisemptyset(&after));
    /* A handler set in another way has a mask of its own. */
    signal(SIGUSR1, count_plainly);
    sigaction(SIGUSR1, NULL, &now);
    CHECK_IS(sigismember(&now.sa_mask, SIGUSR2), 0);
}

static volatile int inside_before, inside_after;

static void not_to_be_interrupted(int number)
{
    (void)number;
    inside_before = hits[SIGURG];
    raise(SIGURG);
    burn_cpu(0.03);
    inside_after = hits[SIGURG];
}

/* A handler keeps others out whenever they are set. */
static void masks_of_handlers_set_before(void)
{
    struct sigaction action = {.sa_handler = not_to_be_interrupted};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    burn_cpu(0.02);
    handle(SIGURG, count, 0);
    burn_cpu(0.02);
    raise(SIGUSR1);
    CHECK_IS(inside_after - inside_before, 0);
    CHECK_IS(hits[SIGURG], 1);
    CHECK_IS(foreign, 0);
}

static void on_alarm(int number) { hits[number]++; }

static void alarm_soon(void)
{
    struct itimerval soon = {{0, 0}, {0, 30000}};
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void waits_with_masks(void)
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
static void waits_are_not_cut_short(void)
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

static sigjmp_buf back;

static void jumps_out(int number)
{
    hits[number]++;
    siglongjmp(back, 1);
}

static void jumped_out_of(void)
{
    int numbers[] = {SIGUSR1, SIGURG};
    for (int i = 0; i < 2; i++) {
        struct sigaction action = {.sa_handler = jumps_out};
        sigfillset(&action.sa_mask);
        sigaction(numbers[i], &action, NULL);
        for (volatile int j = 0; j < RAISED; j++)
            if (sigsetjmp(back, 1) == 0) {
                raise(numbers[i]);
            } else {
                burn_cpu(0.0003);
            }
        CHECK_IS(hits[numbers[i]], RAISED);
        sigset_t now;
        pthread_sigmask(SIG_BLOCK, NULL, &now);
        CHECK(sigisemptyset(&now));
    }
}

static unsigned char *page;
static volatile int faults;

static void opens_the_page(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    faults++;
    mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE);
}

/* As collectors of garbage and checkpoints do. */
static void faults_are_handled(void)
{
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handle(SIGSEGV, opens_the_page, SA_NODEFER);
    for (int i = 0; i < 300; i++) {
        mprotect(page, 4096, PROT_NONE);
        page[i] = 1;
        burn_cpu(0.0003);
    }
    CHECK_IS(faults, 300);
}

static void interval_timers(void)
{
    struct itimerval every = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}}, now;
    int kinds[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}, numbers[] = {SIGALRM, SIGVTALRM, SIGPROF};
    for (int i = 0; i < 3; i++) {
        struct sigaction action = {.sa_handler = count_plainly, .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        sigaction(numbers[i], &action, NULL);
        double began = wall();
        setitimer(kinds[i], &every, NULL);
        getitimer(kinds[i], &now);
        CHECK_IS(now.it_interval.tv_usec, 10000);
        burn_cpu(0.15);
        setitimer(kinds[i], &never, NULL);
        /* A busy machine delivers fewer; more would be someone else's. */
        CHECK(hits[numbers[i]] >= 1);
        CHECK(hits[numbers[i]] <= (wall() - began) / 0.01 + 2);
    }
}

static volatile int own_value, other_value;

static void checks_value(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_code == SI_TIMER && info->si_value.sival_int == 4711)
        own_value++;
    else
        other_value++;
}

static volatile int notified;

static void notify(union sigval value)
{
    notified += value.sival_int == 4712;
}

static void own_timers(void)
{
    int numbers[] = {SIGURG, SIGWINCH, SIGRTMIN + 3};
    struct itimerspec every = {{0, 10000000}, {0, 10000000}};
    for (int i = 0; i < 3; i++) {
        timer_t timer;
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = numbers[i], .sigev_value = {.sival_int = 4711}};
        own_value = other_value = 0;
        handle(numbers[i], checks_value, SA_RESTART);
        CHECK_IS(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer), 0);
        timer_settime(timer, 0, &every, NULL);
        double began = thread_cpu();
        burn_cpu(0.15);
        timer_delete(timer);
        CHECK(own_value >= 1);
        CHECK(own_value <= (thread_cpu() - began) / 0.01 + 2);
        CHECK_IS(other_value, 0);
    }
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value = {.sival_int = 4712}, .sigev_notify_function = notify};
    CHECK_IS(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &every, NULL);
    double until = wall() + 20;
    while (notified < 3 && wall() < until)
        burn_cpu(0.01);
    timer_delete(timer);
    CHECK(notified >= 3);
}

static void queued(void)
{
    int number = SIGRTMIN + 1;
    sigset_t only, before;
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_BLOCK, &only, &before);
    handle(number, count, SA_RESTART);
    for (int i = 0; i < 100; i++)
        sigqueue(getpid(), number, (union sigval){.sival_int = i});
    burn_cpu(0.05);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    CHECK_IS(hits[number], 100);
}

/* Handler, mask and ignored signals go over to a child and to the program that it becomes as they always do. */
static void inherited(void)
{
    int status;
    handle(SIGURG, count, 0);
    pid_t child = fork();
    if (child == 0) {
        struct sigaction now;
        sigaction(SIGURG, NULL, &now);
        raise(SIGURG);
        burn_cpu(0.02);
        _exit(now.sa_sigaction == count && hits[SIGURG] == 1 && foreign == 0 ? 7 : 8);
    }
    waitpid(child, &status, 0);
    CHECK_IS(WEXITSTATUS(status), 7);
    child = fork();
    if (child == 0) {
        sigset_t some;
        sigemptyset(&some);
        sigaddset(&some, SIGURG);
        sigaddset(&some, SIGUSR2);
        sigprocmask(SIG_SETMASK, &some, NULL);
        signal(SIGURG, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        fflush(stdout);
        execl("/proc/self/exe", "hostile_signals", "after_exec", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    CHECK_IS(WEXITSTATUS(status), 0);
}

/* What a child does to its signals while it borrows its parent's memory is its own. */
static void borrowed_by_a_child(void)
{
    struct sigaction now;
    sigset_t mask, urgent;
    int status;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    handle(SIGURG, count, SA_RESTART);
    burn_cpu(0.02);
    for (int way = 0; way < 4; way++) {
        pid_t child = vfork();
        if (child == 0) {
            if (way & 1) {
                signal(SIGURG, SIG_IGN);
                signal(SIGWINCH, SIG_IGN);
            } else {
                struct sigaction none = {.sa_handler = SIG_DFL};
                sigaction(SIGURG, &none, NULL);
                sigaction(SIGWINCH, &none, NULL);
            }
            if (way & 2) {
                sigset_t all;
                sigfillset(&all);
                sigprocmask(SIG_SETMASK, &all, NULL);
            }
            _exit(3);
        }
        waitpid(child, &status, 0);
        CHECK_IS(WEXITSTATUS(status), 3);
        sigaction(SIGURG, NULL, &now);
        CHECK(now.sa_sigaction == count);
        sigaction(SIGWINCH, NULL, &now);
        CHECK(now.sa_handler == SIG_DFL);
        pthread_sigmask(SIG_BLOCK, NULL, &mask);
        CHECK(sigisemptyset(&mask));
        raise(SIGURG);
        burn_cpu(0.01);
        CHECK_IS(hits[SIGURG], way + 1);
    }
    signal(SIGURG, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &urgent, NULL);
    burn_cpu(0.02);
    fflush(stdout);
    pid_t child = vfork();
    if (child == 0) {
        signal(SIGURG, SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &urgent, NULL);
        execl("/proc/self/exe", "hostile_signals", "nothing_set_at_the_start", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    CHECK_IS(WEXITSTATUS(status), 0);
    CHECK(signal(SIGURG, SIG_IGN) == SIG_IGN);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    CHECK_IS(sigismember(&mask, SIGURG), 1);
}

/* What is ignored or blocked is so for every child from its start on, however it is made. */
static void handed_to_children(void)
{
    char own[4096], command[8192];
    int status;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    CHECK(length > 0);
    own[length > 0 ? length : 0] = 0;
    snprintf(command, sizeof command, "exec '%s' after_exec", own);
    sigset_t some, now;
    sigemptyset(&some);
    sigaddset(&some, SIGURG);
    sigaddset(&some, SIGUSR2);
    sigprocmask(SIG_SETMASK, &some, NULL);
    signal(SIGURG, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    burn_cpu(0.02);
    fflush(stdout);
    pid_t child;
    char *arguments[] = {"hostile_signals", "after_exec", NULL};
    int refused = posix_spawn(&child, own, NULL, NULL, arguments, environ);
    if (refused == 0)
        waitpid(child, &status, 0);
    CHECK_IS(refused, 0);
    CHECK_IS(status, 0);
    refused = posix_spawnp(&child, own, NULL, NULL, arguments, environ);
    if (refused == 0)
        waitpid(child, &status, 0);
    CHECK_IS(refused, 0);
    CHECK_IS(status, 0);
    CHECK_IS(system(command), 0);
    FILE *pipe = popen(command, "r");
    char line[256];
    int lines = 0;
    while (pipe != NULL && fgets(line, sizeof line, pipe) != NULL) {
        lines += strstr(line, "WRONG") == NULL;
        lines -= strstr(line, "WRONG") != NULL;
    }
    CHECK_IS(lines, 7);
    CHECK_IS(pipe == NULL ? -1 : pclose(pipe), 0);
    CHECK(signal(SIGURG, SIG_IGN) == SIG_IGN);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK_IS(sigismember(&now, SIGURG), 1);
    burn_cpu(0.02);
}

/* What `inherited` left to the program it became. */
static void after_exec(void)
{
    sigset_t mask;
    struct sigaction urgent, hangup, user;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    CHECK_IS(sigismember(&mask, SIGURG), 1);
    CHECK_IS(sigismember(&mask, SIGUSR2), 1);
    CHECK_IS(sigismember(&mask, SIGUSR1), 0);
    sigaction(SIGURG, NULL, &urgent);
    sigaction(SIGHUP, NULL, &hangup);
    sigaction(SIGUSR1, NULL, &user);
    CHECK(urgent.sa_handler == SIG_IGN);
    CHECK(hangup.sa_handler == SIG_IGN);
    CHECK(user.sa_handler == SIG_DFL);
    burn_cpu(0.02);
}

#define CASE(name) {#name, name}

int main(int argc, char **argv)
{
    static const struct hostile_case cases[] = {
        CASE(nothing_set_at_the_start), CASE(blocked), CASE(own_handler), CASE(both_numbers), CASE(every_number),
        CASE(exec_with_handlers), CASE(once_only),
        CASE(nested), CASE(tiny_alternate_stack), CASE(waited_for), CASE(mask_of_a_handler), CASE(waits_with_masks),
        CASE(waits_are_not_cut_short), CASE(jumped_out_of), CASE(faults_are_handled), CASE(interval_timers),
        CASE(own_timers), CASE(queued), CASE(both_waited_for), CASE(a_thread_for_all_signals),
        CASE(pending_without_a_handler), CASE(masks_of_handlers_set_before), CASE(borrowed_by_a_child),
        CASE(handed_to_children), CASE(inherited), CASE(after_exec), {NULL, NULL}};
    if (argc == 3 && strcmp(argv[1], "chain") == 0)
        return chain(atoi(argv[2]));
    /* Each in a process of its own: what one did to its signals is gone. */
    if (argc == 2 && strcmp(argv[1], "each") == 0) {
        int failed = 0;
        for (const struct hostile_case *one = cases; one->run != after_exec; one++) {
            fflush(stdout);
            pid_t child = fork();
            if (child == 0) {
                char *arguments[] = {argv[0], (char *)one->name, NULL};
                return run_cases(cases, 2, arguments);
            }
            int status;
            waitpid(child, &status, 0);
            if (status != 0) {
                printf("%s: WRONG: ended with status %#x\n", one->name, (unsigned)status);
                failed = 1;
            }
            fflush(stdout);
        }
        return failed;
    }
    return run_cases(cases, argc, argv);
}

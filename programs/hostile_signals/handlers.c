/* Handlers of the program's own, and what they may do. */
#include "cases.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <setjmp.h>

void nothing_set_at_the_start(void)
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

void own_handler(void)
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

void both_numbers(void)
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

/* Every signal that a sampler could want has a handler: one of each at a time, and many of the one that
   queues. */
void every_number(void)
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

static volatile int default_inside;

static void looks_at_itself(int number)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    default_inside = now.sa_handler == SIG_DFL;
    hits[number]++;
}

void once_only(void)
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

void nested(void)
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
void tiny_alternate_stack(void)
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

static sigjmp_buf back;

static void jumps_out(int number)
{
    hits[number]++;
    siglongjmp(back, 1);
}

void jumped_out_of(void)
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
void faults_are_handled(void)
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

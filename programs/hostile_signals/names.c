/*
 * Every function of the C library that sets an action or a mask, of every standard, read back by every one
 * that reads. What is read is printed: a program that is not recorded prints what is right.
 */
#include "cases.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

typedef void (*plain)(int);
struct vector {
    plain handler;
    int mask, flags;
};

extern plain bsd_signal(int, plain), ssignal(int, plain), sysv_signal(int, plain), __sysv_signal(int, plain);
extern int __sigaction(int, const struct sigaction *, struct sigaction *);
extern int siggetmask(void);
extern int old_sigvec(int, const struct vector *, struct vector *);
__asm__(".symver old_sigvec, sigvec@GLIBC_2.2.5");

static volatile sig_atomic_t called;
static void first(int number) { called += number != 0; }
static void second(int number) { called += number != 0; }

static const char *name_of(void *handler)
{
    return handler == (void *)SIG_DFL    ? "default"
           : handler == (void *)SIG_IGN  ? "ignored"
           : handler == (void *)SIG_ERR  ? "error"
           : handler == (void *)SIG_HOLD ? "held"
           : handler == (void *)first    ? "first"
           : handler == (void *)second   ? "second"
                                         : "another";
}

static unsigned long word_of(const sigset_t *set)
{
    unsigned long word;
    memcpy(&word, set, sizeof word);
    return word;
}

/* All that can be read, after a moment in which samples come. */
static void say(const char *what, int number)
{
    struct sigaction action, same;
    sigset_t mask, again, pending;
    burn_cpu(0.0015);
    sigaction(number, NULL, &action);
    __sigaction(number, NULL, &same);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    pthread_sigmask(SIG_SETMASK, NULL, &again);
    sigpending(&pending);
    printf("names: %d after %s: %s, flags %#x, mask %#lx, restorer %d; the same: %d; thread's mask %#lx, the "
           "same: %d, 32 of them %#x; "
           "pending %#lx; called %d\n",
           number, what, name_of((void *)action.sa_handler), (unsigned)action.sa_flags,
           word_of(&action.sa_mask), action.sa_restorer != NULL,
           action.sa_handler == same.sa_handler && action.sa_flags == same.sa_flags &&
               action.sa_restorer == same.sa_restorer && word_of(&action.sa_mask) == word_of(&same.sa_mask),
           word_of(&mask), word_of(&mask) == word_of(&again), (unsigned)siggetmask(), word_of(&pending),
           (int)called);
}

#define TRY(call)                                                                                            \
    do {                                                                                                     \
        errno = 0;                                                                                           \
        long try_result = (long)(call);                                                                      \
        printf("names: %d: %s gives %ld, errno %d\n", number, #call, try_result, errno);                     \
        say(#call, number);                                                                                  \
    } while (0)

#define TRY_HANDLER(call)                                                                                    \
    do {                                                                                                     \
        errno = 0;                                                                                           \
        void *try_result = (void *)(call);                                                                   \
        printf("names: %d: %s gives %s, errno %d\n", number, #call, name_of(try_result), errno);             \
        say(#call, number);                                                                                  \
    } while (0)

/* Masks of one, two and all signals; all but this one; and those that a C int can hold. */
static void masks_of(int number)
{
    for (int kind = 0; kind < 7; kind++)
        for (int how = 0; how < 3; how++) {
            sigset_t set, none;
            sigemptyset(&none);
            sigemptyset(&set);
            if (kind == 1)
                sigaddset(&set, number);
            if (kind == 2) {
                sigaddset(&set, number);
                sigaddset(&set, SIGUSR2);
            }
            if (kind >= 3)
                sigfillset(&set);
            if (kind == 4)
                sigdelset(&set, SIGUSR2);
            if (kind == 5)
                for (int high = 32; high <= 64; high++)
                    sigdelset(&set, high);
            if (kind == 6)
                sigdelset(&set, SIGTERM);
            int ways[] = {SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK};
            printf("names: %d: mask %d in way %d gives %d\n", number, kind, how,
                   sigprocmask(ways[how], &set, NULL));
            say("that", number);
            pthread_sigmask(SIG_UNBLOCK, &set, NULL);
            say("taking it back", number);
            struct sigaction action = {.sa_handler = second,
                                       .sa_flags = how == 0   ? SA_ONSTACK
                                                   : how == 1 ? SA_NODEFER
                                                              : 0,
                                       .sa_mask = set},
                             old;
            sigaction(SIGUSR1, &action, NULL);
            sigaction(SIGUSR1, NULL, &old);
            printf("names: %d: mask of another's handler %d: %#lx, flags %#x\n", number, kind,
                   word_of(&old.sa_mask), (unsigned)old.sa_flags);
            signal(SIGUSR1, SIG_DFL);
            sigprocmask(SIG_SETMASK, &none, NULL);
        }
}

static void *says_its_mask(void *place)
{
    pthread_sigmask(SIG_BLOCK, NULL, place);
    return NULL;
}

static void threads_with_masks(int number)
{
    for (int kind = 0; kind < 3; kind++) {
        pthread_attr_t attributes;
        pthread_t thread;
        sigset_t set, read, seen;
        sigemptyset(&set);
        sigemptyset(&seen);
        sigemptyset(&read);
        if (kind == 1)
            sigaddset(&set, number);
        if (kind == 2)
            sigfillset(&set);
        pthread_attr_init(&attributes);
        int none = pthread_attr_getsigmask_np(&attributes, &read);
        int result = pthread_attr_setsigmask_np(&attributes, &set);
        int some = pthread_attr_getsigmask_np(&attributes, &read);
        pthread_create(&thread, &attributes, says_its_mask, &seen);
        pthread_join(thread, NULL);
        printf("names: %d: thread %d: %d %d %d, mask %#lx, in the thread %#lx\n", number, kind, none, result,
               some, word_of(&read), word_of(&seen));
        pthread_attr_destroy(&attributes);
    }
}

static void of_signal(int number)
{
    struct sigaction action = {.sa_handler = first, .sa_flags = SA_RESTART | SA_NODEFER}, old;
    struct vector vector = {second, ~0, 0}, before;
    say("the start", number);
    TRY_HANDLER(signal(number, first));
    TRY_HANDLER(signal(number, second));
    TRY_HANDLER(signal(number, SIG_ERR));
    TRY(raise(number));
    TRY_HANDLER(bsd_signal(number, first));
    TRY_HANDLER(ssignal(number, SIG_IGN));
    TRY_HANDLER(sysv_signal(number, first));
    TRY(raise(number));
    TRY_HANDLER(__sysv_signal(number, second));
    TRY(siginterrupt(number, 1));
    TRY_HANDLER(signal(number, first));
    TRY(siginterrupt(number, 0));
    TRY_HANDLER(signal(number, second));
    TRY_HANDLER(sigset(number, first));
    TRY(sighold(number));
    TRY(raise(number));
    TRY(sigrelse(number));
    TRY_HANDLER(sigset(number, SIG_HOLD));
    TRY_HANDLER(sigset(number, SIG_HOLD));
    TRY_HANDLER(sigset(number, second));
    TRY(sigignore(number));
    TRY_HANDLER(sigset(number, SIG_DFL));
    TRY(sigaction(number, &action, &old));
    sigfillset(&action.sa_mask);
    action.sa_flags = SA_RESETHAND | SA_NOCLDSTOP;
    TRY(__sigaction(number, &action, &old));
    TRY(sigaction(number, &old, &action));
    TRY(raise(number));
    TRY(old_sigvec(number, &vector, &before));
    TRY(old_sigvec(number, NULL, &before));
    printf("names: %d: vector %s %#x %#x\n", number, name_of((void *)before.handler), (unsigned)before.mask,
           (unsigned)before.flags);
    vector.flags = 3;
    TRY(old_sigvec(number, &vector, &before));
    TRY(sigignore(number));
    TRY_HANDLER(signal(number, first));
    if (number < 32) {
        TRY(sigblock(1 << (number - 1)));
        TRY(raise(number));
        TRY(sigsetmask(0));
        TRY(sigsetmask(-1));
        TRY(sigsetmask(0));
        TRY(sigblock(-1));
        TRY(siggetmask());
        TRY(sigsetmask(1 << (number - 1)));
        TRY(sigsetmask(0));
    }
    TRY_HANDLER(signal(number, SIG_DFL));
}

/* One signal in each process: those that a sampler may use, what else is special, and others. */
void names(void)
{
    int numbers[] = {SIGURG, SIGWINCH, SIGRTMAX, SIGUSR1, SIGCHLD, SIGRTMIN};
    for (int i = 0; i < (int)(sizeof numbers / sizeof numbers[0]); i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            of_signal(numbers[i]);
            threads_with_masks(numbers[i]);
            masks_of(numbers[i]);
            fflush(stdout);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        CHECK_IS(status, 0);
    }
    int refused[] = {0, -1, SIGKILL, SIGSTOP, 32, 33, 65, 1000};
    for (int i = 0; i < (int)(sizeof refused / sizeof refused[0]); i++) {
        int number = refused[i];
        struct sigaction action = {.sa_handler = first};
        errno = 0;
        printf("names: %d:", number);
        printf(" %d %d", sigaction(number, &action, NULL), errno);
        printf(" %s", name_of((void *)signal(number, first)));
        printf(" %s", name_of((void *)sysv_signal(number, first)));
        printf(" %s", name_of((void *)sigset(number, first)));
        printf(" %d %d %d %d %d\n", sighold(number), sigrelse(number), sigignore(number),
               siginterrupt(number, 1), errno);
    }
}

static sigset_t waits_under;

static void counts(int number) { hits[number]++; }

/* The usual way to wait for a handler, in all its forms. */
void paused_for(void)
{
    int numbers[] = {SIGURG, SIGRTMAX, SIGUSR1};
    for (int i = 0; i < 3; i++) {
        int number = numbers[i];
        sigset_t all, but_one, before;
        sigfillset(&all);
        but_one = all;
        sigdelset(&but_one, number);
        sigset(number, counts);
        sigprocmask(SIG_SETMASK, &all, &before);
        burn_cpu(0.01);
        for (int j = 0; j < 20; j++) {
            int had = hits[number];
            raise(number);
            burn_cpu(0.0005);
            CHECK_IS(hits[number] - had, 0);
            CHECK(j % 2 ? sigsuspend(&but_one) == -1 : sigpause(number) == -1);
            CHECK_IS(hits[number] - had, 1);
            sigprocmask(SIG_SETMASK, NULL, &waits_under);
            CHECK_IS(sigismember(&waits_under, number), 1);
        }
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
}

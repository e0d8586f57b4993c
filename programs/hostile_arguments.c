/*
 * Arguments that a function refuses, or does not look at: new images with bad pointers, locks that are free
 * while the clock or the time up to which to wait for them is wrong, and sets of signals that cannot be
 * read.
 * hostile_arguments
 *
 * Prints a line for each call, and what came of it; alone and recorded it has to print the same. Each call
 * of the exec family, and each that concerns signals, is made in a child, since it might succeed or end the
 * process.
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

extern char **environ;

static char *edge; /* nothing can be read from here on */

static char *one_argument[] = {"true", NULL};
static const char *bad(int which)
{
    static char text[] = "a text without end";
    switch (which) {
    case 0: return NULL;
    case 1: return (const char *)8;
    case 2: return edge;
    case 3: return (const char *)(1UL << 63);
    default: return memcpy(edge - 18, text, 18);
    }
}
enum { BAD = 5 };

static struct timespec *volatile no_time;

static void show(const char *what, int which, const char *how, int value)
{
    printf("%s %d: %s %d\n", what, which, how, value);
    fflush(stdout);
}

/* Runs one exec in a child: what it returned with, or what the child came to. */
#define EXEC(what, which, call)                                                                              \
    do {                                                                                                     \
        fflush(stdout);                                                                                      \
        pid_t exec_child = fork();                                                                           \
        if (exec_child == 0) {                                                                               \
            errno = 0;                                                                                       \
            int exec_result = (call);                                                                        \
            show(what, which, exec_result == -1 ? "errno" : "returned",                                      \
                 exec_result == -1 ? errno : exec_result);                                                   \
            _exit(0);                                                                                        \
        }                                                                                                    \
        int exec_status = 0;                                                                                 \
        waitpid(exec_child, &exec_status, 0);                                                                \
        if (WIFSIGNALED(exec_status))                                                                        \
            show(what, which, "signal", WTERMSIG(exec_status));                                              \
        else if (WEXITSTATUS(exec_status) != 0)                                                              \
            show(what, which, "exit", WEXITSTATUS(exec_status));                                             \
    } while (0)

static void images(void)
{
    for (int i = 0; i < BAD; i++) {
        char **bad_list = (char **)(uintptr_t)bad(i);
        char *bad_entry[] = {"A=1", (char *)(uintptr_t)bad(i), NULL};
        char **list_to_the_edge = (char **)(edge - 2 * sizeof(char *));
        EXEC("execve path", i, execve(bad(i), one_argument, environ));
        EXEC("execv path", i, execv(bad(i), one_argument));
        EXEC("execl path", i, execl(bad(i), "true", (char *)NULL));
        EXEC("execle path", i, execle(bad(i), "true", (char *)NULL, environ));
        EXEC("execveat path", i, execveat(-1, bad(i), one_argument, environ, 0));
        EXEC("execvp file", i, execvp(bad(i), one_argument));
        EXEC("execve arguments", i, execve("/bin/true", bad_list, environ));
        EXEC("execve environment", i, execve("/bin/true", one_argument, bad_list));
        EXEC("execle environment", i, execle("/bin/true", "true", (char *)NULL, bad_list));
        EXEC("fexecve environment", i, fexecve(0, one_argument, bad_list));
        EXEC("execvpe environment", i, execvpe("true", one_argument, bad_list));
        EXEC("execve entry of the environment", i, execve("/bin/true", one_argument, bad_entry));
        EXEC("execve entry of the arguments", i, execve("/bin/true", bad_entry, environ));
        EXEC("posix_spawn path", i, posix_spawn(NULL, bad(i), NULL, NULL, one_argument, environ));
        EXEC("posix_spawn environment", i,
             posix_spawn(NULL, "/bin/true", NULL, NULL, one_argument, bad_list));
        EXEC("posix_spawn entry of the environment", i,
             posix_spawn(NULL, "/bin/true", NULL, NULL, one_argument, bad_entry));
        /* Up to the last byte that can be read: nothing is wrong with that one. */
        list_to_the_edge[0] = "A=1";
        list_to_the_edge[1] = NULL;
        EXEC("execve environment up to the edge", i, execve("/bin/true", one_argument, list_to_the_edge));
        memcpy(edge - 10, "/bin/true", 10);
        EXEC("execve path up to the edge", i, execve(edge - 10, one_argument, environ));
    }
}

static pthread_mutex_t mutex_of(int type, int protocol, int robust)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutex_init(&mutex, &attributes);
    return mutex;
}

static const clockid_t CLOCKS[] = {
    CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_BOOTTIME, 99, -1};
enum { CLOCKS_HERE = sizeof CLOCKS / sizeof *CLOCKS };
static const long NANOSECONDS[] = {0, 999999999, 1000000000, -1};
enum { TIMES = sizeof NANOSECONDS / sizeof *NANOSECONDS };

static void on_mutexes(void)
{
    static const int TYPES[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    static const int PROTOCOLS[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT};
    for (int kind = 0; kind < 16; kind++)
        for (int time = 0; time < TIMES; time++) {
            struct timespec until = {0, NANOSECONDS[time]};
            pthread_mutex_t mutex = mutex_of(TYPES[kind % 4], PROTOCOLS[kind / 4 % 2], kind / 8);
            show("pthread_mutex_timedlock", kind * 100 + time, "result",
                 pthread_mutex_timedlock(&mutex, &until));
            show("  then trylock", kind * 100 + time, "result", pthread_mutex_trylock(&mutex));
            for (int clock = 0; clock < CLOCKS_HERE; clock++) {
                pthread_mutex_t other = mutex_of(TYPES[kind % 4], PROTOCOLS[kind / 4 % 2], kind / 8);
                show("pthread_mutex_clocklock", kind * 1000 + time * 10 + clock, "result",
                     pthread_mutex_clocklock(&other, CLOCKS[clock], &until));
                show("  then trylock", kind * 1000 + time * 10 + clock, "result",
                     pthread_mutex_trylock(&other));
            }
        }
    /* Nobody waits: the time is not looked at. */
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    show("pthread_mutex_timedlock without a time", 0, "result", pthread_mutex_timedlock(&mutex, no_time));
    for (int time = 0; time < TIMES; time++) {
        struct timespec until = {0, NANOSECONDS[time]};
        mtx_t mtx;
        mtx_init(&mtx, mtx_timed);
        show("mtx_timedlock", time, "result", mtx_timedlock(&mtx, &until));
    }
}

static void on_rwlocks(void)
{
    for (int time = 0; time < TIMES; time++) {
        struct timespec until = {0, NANOSECONDS[time]};
        pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER, other = PTHREAD_RWLOCK_INITIALIZER;
        show("pthread_rwlock_timedrdlock", time, "result", pthread_rwlock_timedrdlock(&lock, &until));
        show("  then trywrlock", time, "result", pthread_rwlock_trywrlock(&lock));
        show("pthread_rwlock_timedwrlock", time, "result", pthread_rwlock_timedwrlock(&other, &until));
        show("  then tryrdlock", time, "result", pthread_rwlock_tryrdlock(&other));
        for (int clock = 0; clock < CLOCKS_HERE; clock++) {
            pthread_rwlock_t third = PTHREAD_RWLOCK_INITIALIZER, fourth = PTHREAD_RWLOCK_INITIALIZER;
            int which = time * 10 + clock;
            show("pthread_rwlock_clockrdlock", which, "result",
                 pthread_rwlock_clockrdlock(&third, CLOCKS[clock], &until));
            show("  then trywrlock", which, "result", pthread_rwlock_trywrlock(&third));
            show("pthread_rwlock_clockwrlock", which, "result",
                 pthread_rwlock_clockwrlock(&fourth, CLOCKS[clock], &until));
            show("  then tryrdlock", which, "result", pthread_rwlock_tryrdlock(&fourth));
        }
    }
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    show("pthread_rwlock_timedrdlock without a time", 0, "result",
         pthread_rwlock_timedrdlock(&lock, no_time));
}

static void on_semaphores(void)
{
    for (int time = 0; time < TIMES; time++) {
        struct timespec until = {0, NANOSECONDS[time]};
        sem_t semaphore;
        int left;
        sem_init(&semaphore, 0, 10);
        errno = 0;
        show("sem_timedwait", time, "result", sem_timedwait(&semaphore, &until));
        show("  errno", time, "is", errno);
        for (int clock = 0; clock < CLOCKS_HERE; clock++) {
            errno = 0;
            show("sem_clockwait", time * 10 + clock, "result",
                 sem_clockwait(&semaphore, CLOCKS[clock], &until));
            show("  errno", time * 10 + clock, "is", errno);
        }
        sem_getvalue(&semaphore, &left);
        show("  the semaphore", time, "is", left);
    }
}

static void on_fault(int number)
{
    (void)number;
    static const char TEXT[] = "  fault\n";
    (void)!write(1, TEXT, sizeof TEXT - 1);
    _exit(0);
}

/* As EXEC; a fault inside the call is told by a handler on a stack of its own. */
#define CALL(what, which, call)                                                                              \
    EXEC(what, which,                                                                                        \
         (sigaltstack(&(stack_t){.ss_sp = handlers_stack, .ss_size = sizeof handlers_stack}, NULL),          \
          sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_fault, .sa_flags = SA_ONSTACK}, NULL),     \
          (call)))

static char handlers_stack[65536];

/* Sets of which the kernel cannot read all, times of which it cannot read all; and old interfaces. */
static void on_signals(void)
{
    static const struct timespec NOW = {0, 0};
    struct old_stack {
        void *sp;
        int is_used;
    } old_stack;
    int number;
    int (*old_style)(void *, void *) = (int (*)(void *, void *))dlsym(RTLD_DEFAULT, "sigstack");
    for (int i = 0; i < BAD; i++) {
        /* Of a set the kernel reads 8 bytes. */
        sigset_t *set = (sigset_t *)(i == 4 ? edge - 7 : bad(i));
        CALL("sigwait", i, sigwait(set, &number));
        CALL("sigwaitinfo", i, sigwaitinfo(set, NULL));
        CALL("sigtimedwait", i, sigtimedwait(set, NULL, &NOW));
        CALL("signalfd", i, signalfd(-1, set, 0));
        sigset_t one, two;
        sigemptyset(&one);
        sigaddset(&one, SIGUSR1);
        /* One that waits, and what is told of it cannot be written; with two that other programs hardly
           use. */
        two = one;
        sigaddset(&two, SIGURG);
        sigaddset(&two, 64);
        siginfo_t *info = (siginfo_t *)(uintptr_t)bad(i);
        CALL("sigwaitinfo tells", i,
             (sigprocmask(SIG_BLOCK, &two, NULL), raise(SIGUSR1), sigwaitinfo(&two, info)));
        CALL("sigtimedwait tells", i,
             (sigprocmask(SIG_BLOCK, &two, NULL), raise(SIGUSR1), sigtimedwait(&two, info, &NOW)));
        if (i > 0)
            CALL("sigtimedwait up to", i,
                 sigtimedwait(&one, NULL, (struct timespec *)(i == 4 ? edge - 15 : bad(i))));
        if (old_style != NULL) {
            CALL("sigstack", i, old_style((void *)bad(i), &old_stack));
            CALL("sigstack's old one", i, old_style(&(struct old_stack){handlers_stack, 0}, (void *)bad(i)));
        }
    }
}

/* An action for the last signal, which is the first that concerns it, and whose mask has a signal that other
   programs hardly use. */
static void on_the_last_signal(void)
{
    for (int handler = 0; handler < 2; handler++) {
        fflush(stdout);
        if (fork() == 0) {
            struct sigaction action = {.sa_handler = handler ? SIG_IGN : SIG_DFL}, old;
            memset(&old, 0x5a, sizeof old);
            sigaddset(&action.sa_mask, SIGURG);
            show("sigaction of the last signal", handler, "result", sigaction(64, &action, &old));
            show("  it had a handler", handler, "so", old.sa_handler != SIG_DFL);
            show("  it blocked signals", handler, "so", !sigisemptyset(&old.sa_mask));
            struct timespec begin, now;
            unsigned long work = 1;
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
            do {
                for (int i = 0; i < 100000; i++)
                    work = work * 6364136223846793005u + 1;
                clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
            } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 300);
            sigaction(64, NULL, &old);
            show("  it is now ignored", handler, "so", old.sa_handler == SIG_IGN);
            _exit(work == 0);
        }
        int status;
        wait(&status);
        show("  the end", handler, "status", status);
    }
}

int main(void)
{
    long page = sysconf(_SC_PAGESIZE);
    edge = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (edge == MAP_FAILED)
        return 2;
    edge += page;
    mprotect(edge, (size_t)page, PROT_NONE);
    images();
    on_mutexes();
    on_rwlocks();
    on_semaphores();
    on_signals();
    on_the_last_signal();
    return 0;
}

/*
 * A call that a tracer steps through, again and again, and interrupts at one instruction after the other.
 * stepped CALL return|jump|fork|kill [LAPS]
 *
 * Traps tell the tracer where the program is; what they mean is in rax, and in rdx how often something was
 * not as it should be. A lap is: BEGIN, the call, END, the same call again, CHECKED. Without a tracer
 * nothing is trapped, and so many laps are made.
 */
#include "hostile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/wait.h>

enum { BEGIN = 0x5701, END, CHECKED };

static int is_traced, is_child;
static long failures;

static void tell(long what)
{
    if (is_traced && !is_child)
        __asm__ volatile("int3" : : "a"(what), "d"(failures) : "memory");
}

static sigjmp_buf back;
static enum { RETURN, JUMP, FORK } what;
static volatile pid_t forked;

static void interrupt(int signal)
{
    (void)signal;
    if (what == JUMP)
        siglongjmp(back, 1);
    if (what == FORK) {
        forked = fork();
        is_child = forked == 0;
    }
}

/* What the calls need; made anew for each lap, since a lap may have left it in any state. */
static int zeros;
static FILE *stream;
static char stream_buffer[64];
static pthread_mutex_t *mutex;
static pthread_rwlock_t *rwlock;
static pthread_cond_t *condition;
static sem_t *semaphore;
static void *library;

/* Memory that is never used again: a lock may have been left while somebody was at it. */
static void *fresh(size_t bytes)
{
    static char memory[64 << 20];
    static size_t used;
    void *place = memory + used;
    used = (used + bytes + 63) / 64 * 64 % (sizeof memory - 4096);
    return memset(place, 0, bytes);
}

static void reads(void)
{
    char byte = 1;
    failures += read(zeros, &byte, 1) != 1 || byte != 0;
}

static void prepares_mutex(void) { mutex = fresh(sizeof *mutex); }

static void locks(void)
{
    failures += pthread_mutex_lock(mutex) != 0;
    failures += pthread_mutex_unlock(mutex) != 0;
}

/* Another thread holds the mutex until somebody sleeps for it. */
static pthread_mutex_t *volatile asked, *volatile held;

static void *holds(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_t *next = asked;
        if (next == NULL || next == held) {
            usleep(50);
            continue;
        }
        pthread_mutex_lock(next);
        held = next;
        /* Somebody sleeps, or has jumped away. */
        for (int i = 0; i < 40 && *(volatile int *)next != 2; i++)
            usleep(50);
        pthread_mutex_unlock(next);
    }
    return NULL;
}

static void prepares_held(void)
{
    prepares_mutex();
    asked = mutex;
    if (!is_child)
        while (held != mutex)
            usleep(20);
}

static void prepares_rwlock(void) { rwlock = fresh(sizeof *rwlock); }

static void locks_rw(void)
{
    failures += pthread_rwlock_rdlock(rwlock) != 0;
    failures += pthread_rwlock_unlock(rwlock) != 0;
    failures += pthread_rwlock_wrlock(rwlock) != 0;
    failures += pthread_rwlock_unlock(rwlock) != 0;
}

static void prepares_semaphore(void)
{
    semaphore = fresh(sizeof *semaphore);
    sem_init(semaphore, 0, 0);
}

static void posts(void)
{
    failures += sem_post(semaphore) != 0;
    failures += sem_wait(semaphore) != 0;
}

static void prepares_condition(void)
{
    condition = fresh(sizeof *condition);
    prepares_mutex();
}

static void waits_condition(void)
{
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 50000;
    soon.tv_sec += soon.tv_nsec / 1000000000;
    soon.tv_nsec %= 1000000000;
    pthread_mutex_lock(mutex);
    failures += pthread_cond_timedwait(condition, mutex, &soon) != ETIMEDOUT;
    failures += pthread_cond_signal(condition) != 0;
    pthread_mutex_unlock(mutex);
}

static void polls(void)
{
    struct pollfd ready = {zeros, POLLIN, 0};
    failures += poll(&ready, 1, 0) != 1;
}

static void sleeps(void)
{
    struct timespec short_time = {0, 60000};
    nanosleep(&short_time, NULL);
}

static void writes_characters(void)
{
    for (int i = 0; i < 3; i++)
        failures += fputc('x', stream) != 'x';
}

static void flushes(void)
{
    failures += fputc('x', stream) != 'x';
    failures += fflush(stream) != 0;
}

static void *nothing(void *argument) { return argument; }

static void creates(void)
{
    pthread_t thread;
    void *result = NULL;
    failures += pthread_create(&thread, NULL, nothing, &failures) != 0;
    failures += pthread_join(thread, &result) != 0 || result != &failures;
}

static void forks(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        ;
    failures += ended != child || WEXITSTATUS(status) != 7;
}

static void execs_in_vain(void)
{
    char *const arguments[] = {"nothing", NULL};
    failures += execv("/nowhere/at/all", arguments) != -1 || errno != ENOENT;
}

static void sets_handlers(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN}, seen;
    failures += sigaction(SIGUSR2, &action, NULL) != 0;
    failures += sigaction(SIGUSR2, NULL, &seen) != 0 || seen.sa_handler != SIG_IGN;
    sigset_t mask, before;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    failures += pthread_sigmask(SIG_BLOCK, &mask, &before) != 0;
    failures += pthread_sigmask(SIG_SETMASK, &before, NULL) != 0;
}

typedef uint64_t work_function(uint64_t x, uint64_t steps);

/* Code that was sampled, so that its module is known. */
static void opens(void)
{
    library = dlopen("libplugin_a.so", RTLD_NOW);
    work_function *work = library == NULL ? NULL : (work_function *)dlsym(library, "plugin_a_work");
    for (double until = thread_cpu() + 0.012; work != NULL && thread_cpu() < until;)
        kept_result = work(kept_result, UNIT);
}

static void closes(void) { failures += library == NULL || dlclose(library) != 0; }

static void does_nothing(void) {}

static const struct {
    const char *name;
    void (*prepare)(void);
    void (*call)(void);
    int threads;
} calls[] = {
    {"read", does_nothing, reads, 0},
    {"mutex", prepares_mutex, locks, 1},
    {"mutex-of-one-thread", prepares_mutex, locks, 0},
    {"mutex-held", prepares_held, locks, 1},
    {"rwlock", prepares_rwlock, locks_rw, 1},
    {"semaphore", prepares_semaphore, posts, 1},
    {"condition", prepares_condition, waits_condition, 1},
    {"poll", does_nothing, polls, 0},
    {"sleep", does_nothing, sleeps, 0},
    {"characters", does_nothing, writes_characters, 0},
    {"flush", does_nothing, flushes, 0},
    {"create", does_nothing, creates, 1},
    {"fork", does_nothing, forks, 0},
    {"exec", does_nothing, execs_in_vain, 0},
    {"sigaction", does_nothing, sets_handlers, 0},
    {"dlclose", opens, closes, 0},
};

/* After all laps: the thread is still measured, and another one is. */
KEPT static double late_work(double seconds)
{
    double begin = thread_cpu();
    uint64_t x = kept_result;
    do
        BURN(x, 50 * UNIT);
    while (thread_cpu() < begin + seconds);
    kept_result = x;
    return thread_cpu() - begin;
}

static void *late_thread(void *seconds)
{
    static double worked;
    worked = late_work(*(double *)seconds);
    return &worked;
}

int main(int argc, char **argv)
{
    static unsigned chosen;
    while (chosen < sizeof calls / sizeof *calls && (argc < 2 || strcmp(calls[chosen].name, argv[1]) != 0))
        chosen++;
    if (argc < 3 || chosen == sizeof calls / sizeof *calls) {
        for (chosen = 0; chosen < sizeof calls / sizeof *calls; chosen++)
            puts(calls[chosen].name);
        return argc > 1 ? 2 : 0;
    }
    what = strcmp(argv[2], "jump") == 0 ? JUMP : strcmp(argv[2], "fork") == 0 ? FORK : RETURN;
    is_traced = getenv("STEPPED_BY_TRACER") != NULL;
    long laps = argc > 3 ? atol(argv[3]) : 3;
    zeros = open("/dev/zero", O_RDONLY);
    stream = fopen("/dev/null", "w");
    setvbuf(stream, stream_buffer, _IOFBF, sizeof stream_buffer);
    __fsetlocking(stream, FSETLOCKING_BYCALLER);
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    if (calls[chosen].threads) {
        pthread_t other;
        sigset_t mask, before;
        sigfillset(&mask);
        sigdelset(&mask, SIGURG);
        pthread_sigmask(SIG_BLOCK, &mask, &before);
        pthread_create(&other, NULL, holds, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    for (volatile long lap = 0; is_traced || lap < laps; lap++) {
        forked = -1;
        calls[chosen].prepare();
        if (sigsetjmp(back, 1) == 0) {
            tell(BEGIN);
            calls[chosen].call();
            tell(END);
        } else {
            tell(END);
        }
        /* What the interrupted call did on its way in a child is the program's own concern; the next one has
           to work. */
        if (is_child)
            failures = 0;
        calls[chosen].prepare();
        calls[chosen].call();
        if (is_child)
            _exit(failures == 0 ? 0 : 1);
        if (forked > 0) {
            int status = 0;
            pid_t ended;
            while ((ended = waitpid(forked, &status, 0)) < 0 && errno == EINTR)
                ;
            failures += ended != forked || status != 0;
            if (ended != forked || status != 0)
                fprintf(stderr, "child %d, forked in the call: waitpid gave %d, status %#x\n", forked, ended,
                        status);
        }
        /* The tracer puts 0 there when it has enough. */
        long more = CHECKED;
        if (is_traced)
            __asm__ volatile("int3" : "+a"(more) : "d"(failures) : "memory");
        if (more == 0)
            break;
    }
    double seconds = 0.3, mine = late_work(seconds);
    pthread_t thread;
    void *other = NULL;
    pthread_create(&thread, NULL, late_thread, &seconds);
    pthread_join(thread, &other);
    printf("{\"late_s\":%.6f,\"failures\":%ld}\n", mine + *(double *)other, failures);
    return failures == 0 ? 0 : 1;
}

/*
 * Threads created and ended in every way: pthread_create, thrd_create, detached, ended by pthread_exit deep
 * in a call, cancelled while computing, 500 short ones, and one made by clone() alone, of which the C
 * library knows nothing.
 * threads_any_way [SECONDS of all together] [clone: with the bare clone()]
 */
#include "truth.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>

enum { SHORT_THREADS = 500, AT_ONCE = 10, STACK = 64 * 1024 };

struct truth {
    const char *how;
    long tid;
    double cpu_s;
};

static double share_s;
static struct truth of_main = {"main", 0, 0}, created = {"pthread_create", 0, 0}, c11 = {"thrd_create", 0, 0},
                    detached = {"detached", 0, 0}, exited = {"pthread_exit", 0, 0},
                    cancelled_async = {"cancel_async", 0, 0}, cancelled_deferred = {"cancel_deferred", 0, 0},
                    bare = {"clone", 0, 0};
static double short_s[SHORT_THREADS];
static sem_t detached_done, computing;

/* The last thing a thread does: what follows until the kernel has ended it is a few microseconds. */
static void note(struct truth *truth)
{
    truth->tid = thread_id();
    truth->cpu_s = thread_cpu();
}

static void *named_thread(void *truth)
{
    pthread_setname_np(pthread_self(), "named-by-itself");
    burn_cpu(share_s);
    note(truth);
    return NULL;
}

static int c11_thread(void *truth)
{
    burn_cpu(share_s);
    note(truth);
    return 7;
}

static void *detached_thread(void *truth)
{
    burn_cpu(share_s);
    note(truth);
    sem_post(&detached_done);
    return NULL;
}

KEPT void leave_from_here(int levels, struct truth *truth)
{
    if (truth == NULL)
        return;
    if (levels > 0) {
        leave_from_here(levels - 1, truth);
        kept_result = kept_result + 1;
        return;
    }
    burn_cpu(share_s);
    note(truth);
    pthread_exit(truth);
}

static void *exiting_thread(void *truth)
{
    leave_from_here(10, truth);
    return NULL;
}

static void note_at_cancellation(void *truth) { note(truth); }

KEPT void burn_a_little(void)
{
    uint64_t x = kept_result;
    BURN(x, 10 * UNIT);
    kept_result = x;
}

static void *cancelled_thread(void *truth)
{
    int asynchronous = truth == &cancelled_async, old;
    pthread_cleanup_push(note_at_cancellation, truth);
    if (asynchronous)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    sem_post(&computing);
    for (;;) {
        burn_a_little();
        if (!asynchronous)
            pthread_testcancel();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static int cancel_it(struct truth *truth)
{
    pthread_t thread;
    void *result;
    if (pthread_create(&thread, NULL, cancelled_thread, truth) != 0)
        return 1;
    while (sem_wait(&computing) != 0)
        continue;
    clockid_t clock;
    struct timespec pause = {0, 1000000};
    pthread_getcpuclockid(thread, &clock);
    while (clock_now(clock) < share_s)
        nanosleep(&pause, NULL);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result != PTHREAD_CANCELED;
}

/* Between 20 microseconds and 2 milliseconds. */
static void *short_thread(void *position)
{
    size_t i = (size_t)position;
    uint64_t x = i;
    BURN(x, UNIT * (i % 10 == 0 ? 100 : 1 + i % 7));
    kept_result = x;
    short_s[i] = thread_cpu();
    return NULL;
}

static int short_threads(void)
{
    pthread_t threads[AT_ONCE];
    for (size_t first = 0; first < SHORT_THREADS; first += AT_ONCE) {
        for (size_t i = 0; i < AT_ONCE; i++)
            if (pthread_create(&threads[i], NULL, short_thread, (void *)(first + i)) != 0)
                return 1;
        for (size_t i = 0; i < AT_ONCE; i++)
            pthread_join(threads[i], NULL);
    }
    return 0;
}

#if defined(__x86_64__)
static double bare_burn_s;

static long bare_call(long number, long a, long b)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b) : "rcx", "r11", "memory");
    return result;
}

static double bare_clock(void)
{
    struct timespec now;
    bare_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Runs on the creator's thread pointer: nothing here may touch errno or any other thread-local variable. */
static int bare_thread(void *truth_argument)
{
    struct truth *truth = truth_argument;
    uint64_t x = 1;
    do
        BURN(x, 50 * UNIT);
    while (bare_clock() < bare_burn_s);
    kept_result = x;
    truth->tid = bare_call(SYS_gettid, 0, 0);
    truth->cpu_s = bare_clock();
    bare_call(SYS_exit, 0, 0);
    return 0;
}

static int clone_it(struct truth *truth)
{
    static volatile int alive = 1;
    static volatile int parent_word;
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return 1;
    bare_burn_s = share_s;
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    if (clone(bare_thread, stack + STACK, flags, truth, &parent_word, NULL, &alive) < 0)
        return 1;
    /* The kernel clears the word when the thread has ended, and wakes its waiters. */
    while (alive)
        syscall(SYS_futex, &alive, FUTEX_WAIT, 1, NULL, NULL, 0);
    munmap(stack, STACK);
    return 0;
}
#else
static int clone_it(struct truth *truth) { return truth == NULL; }
#endif

int main(int argc, char **argv)
{
    double began = wall();
    int with_clone = argc > 2 && strcmp(argv[2], "clone") == 0;
    share_s = seconds_argument(argc, argv, 1, 1.0) / (8 + with_clone);
    sem_init(&detached_done, 0, 0);
    sem_init(&computing, 0, 0);

    int failed = 0, c11_result = 0;
    pthread_t joined, exiting, loose;
    thrd_t standard;
    void *result = NULL;
    failed += pthread_create(&joined, NULL, named_thread, &created) != 0;
    failed += thrd_create(&standard, c11_thread, &c11) != thrd_success;
    failed += pthread_create(&exiting, NULL, exiting_thread, &exited) != 0;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    failed += pthread_create(&loose, &attributes, detached_thread, &detached) != 0;
    pthread_attr_destroy(&attributes);
    failed += cancel_it(&cancelled_async);
    failed += cancel_it(&cancelled_deferred);
    failed += short_threads();
    if (with_clone)
        failed += clone_it(&bare);
    burn_cpu(share_s);
    pthread_join(joined, NULL);
    thrd_join(standard, &c11_result);
    pthread_join(exiting, &result);
    while (sem_wait(&detached_done) != 0)
        continue;
    failed += c11_result != 7 || result != &exited;
    note(&of_main);

    const struct truth *all[] = {&of_main,         &created,           &c11, &detached, &exited,
                                 &cancelled_async, &cancelled_deferred};
    printf("{\"program\":\"threads_any_way\",\"failed\":%d,\"threads\":[", failed);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        printf("%s{\"tid\":%ld,\"how\":\"%s\",\"cpu_s\":%.6f}", i ? "," : "", all[i]->tid, all[i]->how,
               all[i]->cpu_s);
    if (with_clone)
        printf(",{\"tid\":%ld,\"how\":\"%s\",\"cpu_s\":%.6f}", bare.tid, bare.how, bare.cpu_s);
    double short_sum = 0;
    for (int i = 0; i < SHORT_THREADS; i++)
        short_sum += short_s[i];
    printf("],\"short_threads\":{\"count\":%d,\"cpu_s\":%.6f},\"cpu_s\":%.6f,\"wall_s\":%.6f}\n",
           SHORT_THREADS, short_sum, process_cpu(), wall() - began);
    return failed != 0;
}

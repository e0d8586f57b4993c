/*
 * A program that forbids itself the processor's time-stamp counter, as tools that replay programs do, and
 * goes on: locks, sleeps, threads, children, work that is sampled. Whoever reads the counter from then on
 * is killed.
 * forbidden_counter SECONDS [HOW]
 */
#include "hostile.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long guarded;
static double seconds;

/* The C library's clock reads the counter, too. */
static double clock_by_call(int clock)
{
    struct timespec now;
    syscall(SYS_clock_gettime, clock, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static __attribute__((noinline)) void work_without_counter(double for_s)
{
    double until = clock_by_call(CLOCK_THREAD_CPUTIME_ID) + for_s;
    uint64_t x = kept_result;
    while (clock_by_call(CLOCK_THREAD_CPUTIME_ID) < until)
        BURN(x, 100 * UNIT);
    kept_result = x;
}

static void *contends(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&mutex);
        guarded++;
        pthread_mutex_unlock(&mutex);
    }
    work_without_counter(seconds / 4);
    return NULL;
}

static void everything(void)
{
    pthread_t threads[2];
    int status;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, contends, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_IS(guarded, 40000);
    struct timespec moment = {0, 2000000};
    CHECK_IS(nanosleep(&moment, NULL), 0);
    int ends[2];
    char byte = 'x';
    CHECK_IS(pipe(ends), 0);
    CHECK_IS(write(ends[1], &byte, 1), 1);
    CHECK_IS(read(ends[0], &byte, 1), 1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        work_without_counter(0.02);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        _exit(7);
    }
    waitpid(child, &status, 0);
    CHECK_IS(status, 7 << 8);
    work_without_counter(seconds / 2);
}

int main(int argc, char **argv)
{
    seconds = argc > 1 ? atof(argv[1]) : 1;
    const char *how = argc > 2 ? argv[2] : "called";
    case_now = how;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    work_without_counter(seconds / 4);
    long result = strcmp(how, "by_number") == 0 ? syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0)
                                                : prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    CHECK_IS(result, 0);
    everything();
    printf("{\"pid\":%d,\"cpu_s\":%.6f}\n", (int)getpid(), clock_by_call(CLOCK_PROCESS_CPUTIME_ID));
    fflush(stdout);
    return wrong == 0 ? 0 : 1;
}

/*
 * Is stopped from outside (SIGSTOP and SIGCONT, a tracer), and finds out by its own clocks for how long.
 * stopped [CASE] [SECONDS]
 *
 * compute  computes for so long: where the wall's clock jumps and its own does not, it was stopped
 * sleep    sleeps once for so long, stopped meanwhile
 * child    a child computes; only that one is stopped
 * both     one thread computes, one waits for a lock that the first holds until it is done
 *
 * Prints the process that is to be stopped as soon as it is at work, and at the end how long it was stopped
 * and what it computed.
 */
#include "truth.h"
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>

/* A jump is longer than any other program keeps a processor. */
#define JUMP 0.2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Computes for so much processor time; how much of the wall's clock passed in jumps. */
KEPT static double compute(double seconds)
{
    uint64_t x = kept_result;
    double cpu = thread_cpu(), end = cpu + seconds, before = wall(), jumps = 0;
    do {
        double cpu_before = cpu;
        BURN(x, 50 * UNIT);
        double now = wall();
        cpu = thread_cpu();
        if (now - before - (cpu - cpu_before) > JUMP)
            jumps += now - before - (cpu - cpu_before);
        before = now;
    } while (cpu < end);
    kept_result = x;
    return jumps;
}

static void ready(pid_t pid)
{
    printf("%d\n", (int)pid);
    fflush(stdout);
}

static void *waiter(void *nothing)
{
    (void)nothing;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "compute";
    double seconds = seconds_argument(argc, argv, 2, 1.0), stopped = 0;
    if (!strcmp(which, "compute")) {
        ready(getpid());
        stopped = compute(seconds);
    } else if (!strcmp(which, "sleep")) {
        struct timespec time = { (time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds)) };
        ready(getpid());
        nanosleep(&time, NULL);
    } else if (!strcmp(which, "both")) {
        pthread_t thread;
        pthread_mutex_lock(&lock);
        pthread_create(&thread, NULL, waiter, NULL);
        burn_cpu(0.05);
        ready(getpid());
        stopped = compute(seconds);
        pthread_mutex_unlock(&lock);
        pthread_join(thread, NULL);
    } else {
        int answer[2];
        if (pipe(answer) != 0)
            return 1;
        pid_t child = fork();
        if (child == 0) {
            double jumps = compute(seconds);
            _exit(write(answer[1], &jumps, sizeof jumps) == (ssize_t)sizeof jumps ? 0 : 1);
        }
        ready(child);
        waitpid(child, NULL, 0);
        if (read(answer[0], &stopped, sizeof stopped) != (ssize_t)sizeof stopped)
            return 1;
    }
    printf("{\"stopped_s\": %.6f, \"cpu_s\": %.6f}\n", stopped, process_cpu());
    return 0;
}

/*
 * Burns CPU time, prints the truth and ends in the way asked for.
 * endings [SECONDS] [MODE]
 */
#include "truth.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

static double seconds, began, loaded;
static const char *mode;
static clockid_t main_clock;

/* `cpu_s`: what the process has burned so far; `main_s`: what its first thread has; `loaded_s`: what loading
   it took. */
static void print_truth(void)
{
    printf("{\"program\":\"endings\",\"mode\":\"%s\",\"pid\":%d,\"main_s\":%.6f,\"cpu_s\":%.6f,"
           "\"loaded_s\":%.6f,\"wall_s\":%.6f}\n",
           mode, (int)getpid(), clock_now(main_clock), process_cpu(), loaded, wall() - began);
    fflush(stdout);
}

KEPT void burn_at_exit(void)
{
    burn_cpu(seconds / 2);
    print_truth();
}

static void *ends_the_process(void *arg)
{
    (void)arg;
    burn_cpu(seconds / 2);
    print_truth();
    if (strcmp(mode, "thread_exit") == 0)
        exit(44);
    _exit(45);
}

KEPT void burns_for_ever(void)
{
    for (;;)
        burn_cpu(1.0);
}

static pthread_t main_thread;

/* Begins when main has left, so that the truth holds all of main's time. */
static void *outlives_main(void *arg)
{
    (void)arg;
    pthread_join(main_thread, NULL);
    burn_cpu(seconds / 2);
    print_truth();
    return NULL;
}

/* More and more, and never less: until the kernel ends it, or at the latest at 1 GiB. */
KEPT void takes_memory(void)
{
    for (int i = 0; i < 1024; i++) {
        char *memory = malloc(1 << 20);
        if (memory == NULL)
            _exit(48);
        memset(memory, i, 1 << 20);
    }
}

static int *volatile nowhere;

static int end(void)
{
    if (strcmp(mode, "exit") == 0)
        exit(41);
    if (strcmp(mode, "_exit") == 0)
        _exit(42);
    if (strcmp(mode, "_Exit") == 0)
        _Exit(43);
    if (strcmp(mode, "quick_exit") == 0)
        quick_exit(46);
    if (strcmp(mode, "exit_group") == 0)
        syscall(SYS_exit_group, 47);
    if (strcmp(mode, "abort") == 0)
        abort();
    if (strcmp(mode, "segv") == 0)
        *nowhere = 1;
    if (strcmp(mode, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(mode, "term") == 0)
        raise(SIGTERM);
    if (strcmp(mode, "memory") == 0)
        takes_memory();
    if (strcmp(mode, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    return strcmp(mode, "return") == 0 ? 40 : 2;
}

int main(int argc, char **argv)
{
    began = wall();
    loaded = process_cpu();
    seconds = seconds_argument(argc, argv, 1, 1.0);
    mode = argc > 2 ? argv[2] : "return";
    pthread_getcpuclockid(pthread_self(), &main_clock);
    pthread_t thread;
    if (strcmp(mode, "thread_exit") == 0 || strcmp(mode, "thread__exit") == 0) {
        pthread_create(&thread, NULL, ends_the_process, NULL);
        burns_for_ever();
    }
    if (strcmp(mode, "main_pthread_exit") == 0) {
        main_thread = pthread_self();
        pthread_create(&thread, NULL, outlives_main, NULL);
        burn_cpu(seconds / 2);
        pthread_exit(NULL);
    }
    if (strcmp(mode, "atexit") == 0) {
        atexit(burn_at_exit);
        burn_cpu(seconds / 2);
        return 0;
    }
    burn_cpu(seconds);
    print_truth();
    if (strcmp(mode, "until_killed") == 0)
        burns_for_ever();
    return end();
}

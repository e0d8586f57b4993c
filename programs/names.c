/*
 * Threads that get their names in every way; then the process ends in the way asked for, within a few
 * milliseconds.
 * names MODE      kill, segv, exit
 */
#include "truth.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

static pthread_barrier_t all_named;
static long ids[4];

static void *stay(int position)
{
    ids[position] = thread_id();
    pthread_barrier_wait(&all_named);
    for (;;)
        pause();
    return NULL;
}

static void *names_itself(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "by-itself");
    return stay(0);
}

static void *by_prctl(void *arg)
{
    (void)arg;
    prctl(PR_SET_NAME, "first-name");
    prctl(PR_SET_NAME, "by-prctl");
    return stay(1);
}

static void *is_named(void *arg)
{
    (void)arg;
    return stay(2);
}

static void *inherits(void *arg)
{
    (void)arg;
    return stay(3);
}

int main(int argc, char **argv)
{
    void *(*starts[])(void *) = {names_itself, by_prctl, is_named, inherits};
    const char *names[] = {"by-itself", "by-prctl", "by-another", "inherited"};
    const char *mode = argc > 1 ? argv[1] : "kill";
    pthread_t threads[4];
    pthread_barrier_init(&all_named, NULL, 5);
    prctl(PR_SET_NAME, "inherited");
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, starts[i], NULL);
    prctl(PR_SET_NAME, "the-first");
    pthread_setname_np(threads[2], "by-another");
    pthread_barrier_wait(&all_named);
    printf("{\"program\":\"names\",\"mode\":\"%s\",\"threads\":[{\"tid\":%ld,\"name\":\"the-first\"}", mode,
           thread_id());
    for (int i = 0; i < 4; i++)
        printf(",{\"tid\":%ld,\"name\":\"%s\"}", ids[i], names[i]);
    printf("]}\n");
    fflush(stdout);
    if (strcmp(mode, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(mode, "segv") == 0)
        raise(SIGSEGV);
    _exit(3);
}

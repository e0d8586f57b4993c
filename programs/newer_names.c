/*
 * Names that not every program has: functions that only newer C libraries have, functions of OpenMP's
 * runtimes, and an old one. A line for each: the name, and by which ways the program finds it; what dlerror
 * says where none is found. Three of them wait: each is called by each way that finds it, for WAIT_MS. Then
 * a line for each of these with the number of calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "newer_names.h"

enum { WAIT_MS = 4, ERRNO_BEFORE = 77 };

typedef int locks(void *, int, const void *);
typedef int conditions(void *, void *, int, const void *);

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, free_one = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty;
static int lock_calls, semaphore_calls, condition_calls;

static void *own_reference(const char *name)
{
    NAMES(BY_WEAK_REFERENCE)
    return NULL;
}

static struct timespec soon(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += WAIT_MS * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static void expect(int is_so, const char *what)
{
    if (!is_so) {
        fprintf(stderr, "newer_names: %s did not wait as long as it was to\n", what);
        exit(1);
    }
}

static void wait_for_lock(locks *function)
{
    struct timespec until = soon();
    lock_calls++;
    expect(function(&held, CLOCK_MONOTONIC, &until) == ETIMEDOUT, "pthread_mutex_clocklock");
}

static void wait_for_semaphore(locks *function)
{
    struct timespec until = soon();
    semaphore_calls++;
    expect(function(&empty, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT, "sem_clockwait");
}

static void wait_for_condition(conditions *function)
{
    struct timespec until = soon();
    condition_calls++;
    pthread_mutex_lock(&free_one);
    expect(function(&never, &free_one, CLOCK_MONOTONIC, &until) == ETIMEDOUT, "pthread_cond_clockwait");
    pthread_mutex_unlock(&free_one);
}

static void call(const char *name, void *function)
{
    if (strcmp(name, "pthread_mutex_clocklock") == 0)
        wait_for_lock((locks *)function);
    if (strcmp(name, "sem_clockwait") == 0)
        wait_for_semaphore((locks *)function);
    if (strcmp(name, "pthread_cond_clockwait") == 0)
        wait_for_condition((conditions *)function);
}

static void say(const char *way, const char *name, void *found)
{
    printf(" %s:%d", way, found != NULL);
    if (found)
        call(name, found);
}

static void say_looked_up(const char *way, void *where, const char *name, const char *version)
{
    dlerror();
    errno = ERRNO_BEFORE;
    void *found = version ? dlvsym(where, name, version) : dlsym(where, name);
    int is_kept = errno == ERRNO_BEFORE;
    const char *error = dlerror();
    say(way, name, found);
    if (!is_kept)
        printf("(errno %d)", errno);
    if (error) {
        /* Of a name of OpenMP's a recorded program's message may have a space behind it. */
        int length = (int)strlen(error);
        while (length > 0 && error[length - 1] == ' ')
            length--;
        printf("(%.*s)", length, error);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    pthread_mutex_lock(&held);
    sem_init(&empty, 0, 0);
    /* The first calls of these from here. */
    if (lock_by)
        wait_for_lock(lock_by);
    struct timespec until = soon();
    if (semaphore_by) {
        semaphore_calls++;
        expect(semaphore_by(&empty, CLOCK_MONOTONIC, &until) == -1, "sem_clockwait");
    }
    void *libc = dlopen("libc.so.6", RTLD_NOW), *program = dlopen(NULL, RTLD_NOW);
    char path[4096];
    snprintf(path, sizeof path, "%.*s/libnewer_library.so", (int)(strrchr(argv[0], '/') - argv[0]), argv[0]);
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL || libc == NULL)
        return 1;
    void *(*library_reference)(const char *) = (void *(*)(const char *))dlsym(library, "by_weak_reference");
    locks *lock = (locks *)dlsym(library, "lock_in_library");
    locks *semaphore = (locks *)dlsym(library, "semaphore_in_library");
    conditions *condition = (conditions *)dlsym(library, "condition_in_library");
    if (lock_by) {
        wait_for_lock(lock);
        wait_for_semaphore(semaphore);
        wait_for_condition(condition);
    }
#define PRINT(name, version)                                                                                 \
    printf("%s", #name);                                                                                     \
    say("weak", #name, own_reference(#name));                                                                \
    say("library", #name, library_reference(#name));                                                         \
    say_looked_up("default", RTLD_DEFAULT, #name, NULL);                                                     \
    say_looked_up("next", RTLD_NEXT, #name, NULL);                                                           \
    say_looked_up("libc", libc, #name, NULL);                                                                \
    say_looked_up("program", program, #name, NULL);                                                          \
    say_looked_up("opened", library, #name, NULL);                                                           \
    say_looked_up("versioned", RTLD_DEFAULT, #name, version);                                                \
    printf("\n");
    NAMES(PRINT)
    printf("calls pthread_mutex_clocklock %d\n", lock_calls);
    printf("calls sem_clockwait %d\n", semaphore_calls);
    printf("calls pthread_cond_clockwait %d\n", condition_calls);
    return 0;
}

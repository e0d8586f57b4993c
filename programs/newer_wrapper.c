/* A library for newer_names to be run with (LD_PRELOAD): stands in front of a function, and says how often.
   */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static int calls;

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    int (*next)(sem_t *, clockid_t, const struct timespec *) =
        (int (*)(sem_t *, clockid_t, const struct timespec *))dlsym(RTLD_NEXT, "sem_clockwait");
    calls++;
    return next(semaphore, clock, until);
}

__attribute__((destructor)) static void say(void)
{
    printf("sem_clockwait was wrapped in %d calls\n", calls);
}

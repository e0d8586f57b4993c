/* A library that newer_names opens: what its own references find, and calls by them. */
#include <string.h>

#include "newer_names.h"

void *by_weak_reference(const char *name)
{
    NAMES(BY_WEAK_REFERENCE)
    return NULL;
}

int lock_in_library(void *mutex, int clock, const void *until)
{
    return lock_by ? lock_by(mutex, clock, until) : -1;
}

int semaphore_in_library(void *semaphore, int clock, const void *until)
{
    return semaphore_by ? semaphore_by(semaphore, clock, until) : -1;
}

int condition_in_library(void *condition, void *mutex, int clock, const void *until)
{
    return condition_by ? condition_by(condition, mutex, clock, until) : -1;
}

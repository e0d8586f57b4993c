/* A library with a lock of its own, under which all its callers do their work, or not. */
#include <pthread.h>

#include "../truth.h"

static pthread_mutex_t server = PTHREAD_MUTEX_INITIALIZER;

KEPT void exec_work(uint64_t units, int is_locked)
{
    uint64_t x = units;
    if (is_locked)
        pthread_mutex_lock(&server);
    BURN(x, units * UNIT);
    kept_result = x;
    if (is_locked)
        pthread_mutex_unlock(&server);
}

/*
 * A program with a tool for OpenMP of its own, which looks where the runtime says that locks are called
 * from: always from this program. It prints how often it was told of each kind of call, and how often from
 * elsewhere.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <omp-tools.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 5

static int told[2], elsewhere;
extern const char __executable_start, etext;

static void look(int what, const void *place)
{
    __atomic_fetch_add(&told[what], 1, __ATOMIC_RELAXED);
    if ((const char *)place < &__executable_start || (const char *)place >= &etext)
        __atomic_fetch_add(&elsewhere, 1, __ATOMIC_RELAXED);
}

static void acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void *place)
{
    (void)id;
    if (kind == ompt_mutex_lock || kind == ompt_mutex_nest_lock || kind == ompt_mutex_test_lock
        || kind == ompt_mutex_test_nest_lock)
        look(0, place);
}

static void released(ompt_mutex_t kind, ompt_wait_id_t id, const void *place)
{
    (void)id;
    if (kind != ompt_mutex_critical && kind != ompt_mutex_atomic && kind != ompt_mutex_ordered)
        look(1, place);
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    (void)device, (void)data;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    set(ompt_callback_mutex_acquired, (ompt_callback_t)acquired);
    set(ompt_callback_mutex_released, (ompt_callback_t)released);
    return 1;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = {initialize, finalize, {0}};
    (void)version, (void)runtime;
    return &tool;
}

int main(void)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    for (int i = 0; i < ROUNDS; i++) {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        if (omp_test_lock(&lock))
            omp_unset_lock(&lock);
        if (omp_test_nest_lock(&nest))
            omp_unset_nest_lock(&nest);
    }
    printf("acquired %d released %d elsewhere %d\n", told[0], told[1], elsewhere);
    return elsewhere != 0;
}

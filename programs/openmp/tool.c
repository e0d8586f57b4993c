/* A tool for OpenMP's runtimes that is not Proust: counts regions, and says how many at the end. As a library, or in a program. */
#include <stdio.h>
#include <stdint.h>

typedef union {
    uint64_t value;
    void *ptr;
} ompt_data_t;

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
typedef int (*ompt_set_callback_type)(int event, ompt_function callback);

enum { PARALLEL_BEGIN = 3 };

static int regions;

static void parallel_begin(void *task, void *frame, ompt_data_t *parallel, unsigned threads, int flags, void *site)
{
    (void)task, (void)frame, (void)parallel, (void)threads, (void)flags, (void)site;
    __atomic_fetch_add(&regions, 1, __ATOMIC_RELAXED);
}

static int initialize(ompt_lookup lookup, int device, ompt_data_t *data)
{
    (void)device, (void)data;
    ompt_set_callback_type set = (ompt_set_callback_type)lookup("ompt_set_callback");
    if (!set)
        return 0;
    set(PARALLEL_BEGIN, (ompt_function)parallel_begin);
    return 1;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
    fprintf(stderr, "tool: %d regions\n", regions);
}

static struct {
    int (*initialize)(ompt_lookup, int, ompt_data_t *);
    void (*finalize)(ompt_data_t *);
    ompt_data_t data;
} result = { initialize, finalize, { 0 } };

void *ompt_start_tool(unsigned version, const char *runtime)
{
    (void)version, (void)runtime;
    return &result;
}

/* A tool for OpenMP's runtimes that is not Proust: counts what it is told, and marks every thread, region and
 * task with words of its own, which it has to find again. Says at the end how much that was. As a library, or
 * in a program. */
#include <stdint.h>
#include <stdio.h>

typedef union {
    uint64_t value;
    void *ptr;
} ompt_data_t;

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
typedef int (*ompt_set_callback_type)(int event, ompt_function callback);
typedef int (*ompt_get_callback_type)(int event, ompt_function *callback);
typedef int (*ompt_get_task_info_type)(int level, int *flags, ompt_data_t **task, void **frame,
                                       ompt_data_t **parallel, int *number);
typedef int (*ompt_get_parallel_info_type)(int level, ompt_data_t **parallel, int *size);

enum {
    THREAD_BEGIN = 1,
    THREAD_END,
    PARALLEL_BEGIN,
    PARALLEL_END,
    TASK_CREATE,
    TASK_SCHEDULE,
    IMPLICIT_TASK,
    SYNC_REGION_WAIT = 16,
    MUTEX_RELEASED,
    DEPENDENCES,
    WORK = 20,
    MASKED,
    SYNC_REGION = 23,
    MUTEX_ACQUIRE = 26,
    MUTEX_ACQUIRED
};
enum { BEGIN = 1, END = 2 };
enum { TASK_COMPLETE = 1, TASK_CANCEL = 3 };
enum { TASK_INITIAL = 1 };
enum { THREAD_MARK = 0x7001, REGION_MARK = 0x7002, TASK_MARK = 0x7003, OVER_MARK = 0x7004 };

static struct {
    int threads, regions, regions_ended, tasks, tasks_ended, parts, waits, syncs, locks, released, work,
        masked, dependences;
} count;
static int bad;
static ompt_get_callback_type get_callback;
static ompt_get_task_info_type get_task_info;
static ompt_get_parallel_info_type get_parallel_info;

static void add(int *to)
{
    __atomic_fetch_add(to, 1, __ATOMIC_RELAXED);
}

static void expect(int holds)
{
    if (!holds)
        add(&bad);
}

static void is(ompt_data_t *data, uint64_t mark)
{
    expect(data && data->value == mark);
}

/* A word that is shown for the first time is zero. */
static void mark(ompt_data_t *data, uint64_t mark)
{
    is(data, 0);
    if (data)
        data->value = mark;
}

static void thread_begin(int type, ompt_data_t *thread)
{
    (void)type;
    mark(thread, THREAD_MARK);
    add(&count.threads);
}

static void thread_end(ompt_data_t *thread)
{
    is(thread, THREAD_MARK);
}

static void parallel_begin(ompt_data_t *task, void *frame, ompt_data_t *parallel, unsigned threads, int flags,
                           void *site)
{
    (void)frame, (void)threads, (void)flags, (void)site;
    ompt_function found = 0;
    expect(get_callback(PARALLEL_BEGIN, &found) == 1 && found == (ompt_function)parallel_begin);
    is(task, TASK_MARK);
    mark(parallel, REGION_MARK);
    add(&count.regions);
}

static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, void *site)
{
    (void)flags, (void)site;
    is(task, TASK_MARK);
    is(parallel, REGION_MARK);
    parallel->value = OVER_MARK;
    add(&count.regions_ended);
}

static void implicit_task(int endpoint, ompt_data_t *parallel, ompt_data_t *task, unsigned size,
                          unsigned number, int flags)
{
    (void)size, (void)number;
    if (endpoint == END) {
        is(task, TASK_MARK);
        return;
    }
    if (!(flags & TASK_INITIAL))
        is(parallel, REGION_MARK);
    mark(task, TASK_MARK);
    add(&count.parts);
}

static void task_create(ompt_data_t *task, void *frame, ompt_data_t *new, int flags, int depends, void *site)
{
    (void)frame, (void)depends, (void)site;
    if (flags & TASK_INITIAL)
        return;
    is(task, TASK_MARK);
    mark(new, TASK_MARK);
    add(&count.tasks);
}

static void task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
    is(prior, TASK_MARK);
    if (next)
        is(next, TASK_MARK);
    if (status == TASK_COMPLETE || status == TASK_CANCEL) {
        prior->value = OVER_MARK;
        add(&count.tasks_ended);
    }
}

/* What the runtime shows when it is asked is the same word. */
static void is_current(void)
{
    ompt_data_t *found = 0, *parallel = 0;
    int flags, number, size;
    void *frame;
    if (get_task_info(0, &flags, &found, &frame, &parallel, &number) == 2)
        is(found, TASK_MARK);
    if (get_parallel_info(0, &parallel, &size) == 2 && size > 1)
        is(parallel, REGION_MARK);
}

static void sync_region_wait(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, void *site)
{
    (void)kind, (void)parallel, (void)site;
    if (endpoint != BEGIN)
        return;
    is(task, TASK_MARK);
    is_current();
    add(&count.waits);
}

static void sync_region(int kind, int endpoint, ompt_data_t *parallel, ompt_data_t *task, void *site)
{
    (void)kind, (void)parallel, (void)site;
    is(task, TASK_MARK);
    if (endpoint == BEGIN)
        add(&count.syncs);
}

static void mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t object, void *site)
{
    (void)kind, (void)hint, (void)impl, (void)site;
    expect(object != 0);
}

static void mutex_acquired(int kind, uint64_t object, void *site)
{
    (void)kind, (void)object, (void)site;
    add(&count.locks);
}

static void mutex_released(int kind, uint64_t object, void *site)
{
    (void)kind, (void)object, (void)site;
    add(&count.released);
}

static void work(int type, int endpoint, ompt_data_t *parallel, ompt_data_t *task, uint64_t iterations,
                 void *site)
{
    (void)type, (void)parallel, (void)iterations, (void)site;
    is(task, TASK_MARK);
    if (endpoint == BEGIN)
        add(&count.work);
}

static void masked(int endpoint, ompt_data_t *parallel, ompt_data_t *task, void *site)
{
    (void)parallel, (void)site;
    is(task, TASK_MARK);
    if (endpoint == BEGIN)
        add(&count.masked);
}

static void dependences(ompt_data_t *task, void *all, int number)
{
    (void)all, (void)number;
    is(task, TASK_MARK);
    add(&count.dependences);
}

static int initialize(ompt_lookup lookup, int device, ompt_data_t *data)
{
    static const struct {
        int event;
        ompt_function function;
    } all[] = {
        {THREAD_BEGIN, (ompt_function)thread_begin},
        {THREAD_END, (ompt_function)thread_end},
        {PARALLEL_BEGIN, (ompt_function)parallel_begin},
        {PARALLEL_END, (ompt_function)parallel_end},
        {TASK_CREATE, (ompt_function)task_create},
        {TASK_SCHEDULE, (ompt_function)task_schedule},
        {IMPLICIT_TASK, (ompt_function)implicit_task},
        {SYNC_REGION_WAIT, (ompt_function)sync_region_wait},
        {SYNC_REGION, (ompt_function)sync_region},
        {MUTEX_ACQUIRE, (ompt_function)mutex_acquire},
        {MUTEX_ACQUIRED, (ompt_function)mutex_acquired},
        {MUTEX_RELEASED, (ompt_function)mutex_released},
        {WORK, (ompt_function)work},
        {MASKED, (ompt_function)masked},
        {DEPENDENCES, (ompt_function)dependences},
    };
    (void)device;
    ompt_set_callback_type set = (ompt_set_callback_type)lookup("ompt_set_callback");
    get_callback = (ompt_get_callback_type)lookup("ompt_get_callback");
    get_task_info = (ompt_get_task_info_type)lookup("ompt_get_task_info");
    get_parallel_info = (ompt_get_parallel_info_type)lookup("ompt_get_parallel_info");
    if (!set || !get_callback || !get_task_info || !get_parallel_info)
        return 0;
    expect(lookup("no such function") == 0);
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        expect(set(all[i].event, all[i].function) == 5);
    }
    data->value = THREAD_MARK;
    return 1;
}

static void finalize(ompt_data_t *data)
{
    is(data, THREAD_MARK);
    fprintf(stderr,
            "tool: %d regions, %d ended, %d tasks, %d ended, %d parts, %d waits, %d barriers and waits for "
            "tasks, %d locks, %d released, "
            "%d work, %d masked, %d with dependences, %d threads; %d wrong\n",
            count.regions, count.regions_ended, count.tasks, count.tasks_ended, count.parts, count.waits,
            count.syncs, count.locks, count.released, count.work, count.masked, count.dependences,
            count.threads, bad);
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

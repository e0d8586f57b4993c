/* Work that is divided badly: alone, last, too late, too little at once. */
#include "cases.h"

/* serial-phase: main reads all input before the others may begin; repaired, each reads its own. */
KEPT static void read_all_input(double seconds)
{
    WORK_FOR(seconds);
}

static void *solve_part(void *seconds)
{
    burn_cpu(*(double *)seconds);
    return NULL;
}

static void serial_phase(double seconds)
{
    double each = seconds / 2;
    read_all_input(seconds / 2);
    has_lost(seconds / 2);
    for (int i = 0; i < 2; i++)
        start(solve_part, &each);
    join_all();
}

static void serial_phase_repaired(double seconds)
{
    double each = seconds * 0.75;
    for (int i = 0; i < 2; i++)
        start(solve_part, &each);
    join_all();
}

/* long-task: a pool of two takes the longest task last; repaired, first. */
enum { TASKS = 25 };
static double tasks[TASKS];
static int next_task;

KEPT static void do_task(double seconds)
{
    WORK_FOR(seconds);
}

static void *pool_thread(void *argument)
{
    for (int mine; (mine = __atomic_fetch_add(&next_task, 1, __ATOMIC_SEQ_CST)) < TASKS;)
        do_task(tasks[mine]);
    return argument;
}

static void pool(double seconds, int longest)
{
    for (int i = 0; i < TASKS; i++)
        tasks[i] = seconds * (i == longest ? 0.4 : 0.02);
    start(pool_thread, NULL);
    start(pool_thread, NULL);
    join_all();
}

static void long_task(double seconds)
{
    pool(seconds, TASKS - 1);
    has_lost(seconds * 0.4);
}

static void long_task_repaired(double seconds) { pool(seconds, 0); }

/* idle-pool: items are made slowly, one after the other, and used fast; repaired, they are there before they
   are used. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items, left;
static double use_s;

KEPT static void make_item(double seconds)
{
    WORK_FOR(seconds);
}

static void *user(void *argument)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (items == 0 && left > 0)
            pthread_cond_wait(&changed, &mutex);
        if (left == 0) {
            pthread_mutex_unlock(&mutex);
            return argument;
        }
        items--;
        if (--left == 0)
            pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
        burn_cpu(use_s);
    }
}

static void produce(double seconds, int count, double make_s)
{
    (void)seconds;
    for (int i = 0; i < count; i++) {
        if (make_s > 0)
            make_item(make_s);
        pthread_mutex_lock(&mutex);
        items++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
}

static void idle_pool(double seconds)
{
    int count = (int)(seconds / 0.005);
    left = count;
    use_s = 0.001;
    start(user, NULL);
    produce(seconds, count, 0.005);
    join_all();
}

static void idle_pool_repaired(double seconds)
{
    int count = (int)(seconds / 0.005);
    left = count;
    use_s = 0.006;
    produce(seconds, count, 0);
    start(user, NULL);
    start(user, NULL);
    join_all();
}

/* late-thread: of two threads that meet at a barrier one has three times the work; repaired, both have as
   much. */
static pthread_barrier_t meeting;

struct part {
    double seconds;
};

enum { MEETINGS = 20 };

KEPT static void larger_part(double seconds)
{
    WORK_FOR(seconds);
}
KEPT static void smaller_part(double seconds)
{
    WORK_FOR(seconds);
}

static void *late(void *argument)
{
    struct part *part = argument;
    for (int i = 0; i < MEETINGS; i++) {
        larger_part(part->seconds / MEETINGS);
        pthread_barrier_wait(&meeting);
    }
    return NULL;
}

static void *early(void *argument)
{
    struct part *part = argument;
    double waited = 0;
    for (int i = 0; i < MEETINGS; i++) {
        smaller_part(part->seconds / MEETINGS);
        double since = wall();
        pthread_barrier_wait(&meeting);
        waited += wall() - since;
    }
    has_lost(waited);
    return NULL;
}

static void meet(double larger_s, double smaller_s)
{
    struct part parts[2] = {{larger_s}, {smaller_s}};
    pthread_barrier_init(&meeting, NULL, 2);
    start(late, &parts[0]);
    start(early, &parts[1]);
    join_all();
}

static void late_thread(double seconds) { meet(seconds * 0.75, seconds * 0.25); }
static void late_thread_repaired(double seconds) { meet(seconds / 2, seconds / 2); }

/* late-work: the same, but the one that has more is now this thread and now that one; repaired, both
   have as much. */
struct turns {
    struct part parts[2];
    int first;
};

KEPT static void meets_in_turn(const struct turns *turns)
{
    double waited = 0;
    for (int i = 0; i < MEETINGS; i++) {
        larger_part(turns->parts[(i + turns->first) % 2].seconds / MEETINGS);
        double since = wall();
        pthread_barrier_wait(&meeting);
        waited += wall() - since;
    }
    has_lost(waited);
}

static void *in_turn(void *argument)
{
    meets_in_turn(argument);
    return NULL;
}

static void meet_in_turn(double larger_s, double smaller_s)
{
    struct turns turns[2] = {{{{larger_s}, {smaller_s}}, 0}, {{{larger_s}, {smaller_s}}, 1}};
    pthread_barrier_init(&meeting, NULL, 2);
    start(in_turn, &turns[0]);
    start(in_turn, &turns[1]);
    join_all();
}

static void late_work(double seconds) { meet_in_turn(seconds * 0.75, seconds * 0.25); }
static void late_work_repaired(double seconds) { meet_in_turn(seconds / 2, seconds / 2); }

const struct finding_case phase_cases[] = {
    {"serial-phase", serial_phase, serial_phase_repaired},
    {"long-task", long_task, long_task_repaired},
    {"idle-pool", idle_pool, idle_pool_repaired},
    {"late-thread", late_thread, late_thread_repaired},
    {"late-work", late_work, late_work_repaired},
    {NULL, NULL, NULL},
};

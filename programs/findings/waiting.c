/* Threads and waiting: too many, too short, too busy with it. */
#include "cases.h"

static double until;

/* small-tasks: tasks of some microseconds are handed over one by one; repaired, a thousand at a time. */
static sem_t posted, done;
static int finished;
static uint64_t task_steps;

KEPT static void hand_over(void)
{
    sem_post(&posted);
    while (sem_wait(&done) != 0)
        continue;
}

static void *task_worker(void *argument)
{
    uint64_t x = 1;
    for (;;) {
        while (sem_wait(&posted) != 0)
            continue;
        if (finished)
            break;
        BURN(x, task_steps);
        sem_post(&done);
    }
    kept_result = x;
    return argument;
}

static void hand_out(double seconds, uint64_t steps)
{
    double until_cpu = process_cpu() + seconds;
    task_steps = steps;
    sem_init(&posted, 0, 0);
    sem_init(&done, 0, 0);
    start(task_worker, NULL);
    while (process_cpu() < until_cpu)
        for (int i = 0; i < (steps > 100000 ? 1 : 100); i++)
            hand_over();
    finished = 1;
    sem_post(&posted);
    join_all();
}

static void small_tasks(double seconds) { hand_out(seconds, 1500); }
static void small_tasks_repaired(double seconds) { hand_out(seconds, 1500000); }

/* oversubscription: four threads for each processor; repaired, one. */
static void *crowd_member(void *seconds)
{
    burn_cpu(*(double *)seconds);
    return NULL;
}

static void crowd(double seconds, int threads)
{
    double each = seconds * available() / threads;
    for (int i = 0; i < threads; i++)
        start(crowd_member, &each);
    join_all();
}

static void oversubscription(double seconds) { crowd(seconds, 4 * available()); }
static void oversubscription_repaired(double seconds) { crowd(seconds, available()); }

/* bound-together: a thread for each processor, all on the first one; repaired, they are not bound. */
static int is_bound;

static void bind_to_first(void)
{
    cpu_set_t allowed, first;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        exit(2);
    int number = 0;
    while (!CPU_ISSET(number, &allowed))
        number++;
    CPU_ZERO(&first);
    CPU_SET(number, &first);
    if (pthread_setaffinity_np(pthread_self(), sizeof first, &first) != 0)
        exit(2);
}

static void *bound_member(void *seconds)
{
    if (is_bound)
        bind_to_first();
    double since = wall(), used = thread_cpu();
    burn_cpu(*(double *)seconds);
    has_lost(wall() - since - (thread_cpu() - used));
    return NULL;
}

static void bound(double seconds)
{
    double each = seconds / available();
    for (int i = 0; i < available(); i++)
        start(bound_member, &each);
    join_all();
}

static void bound_together(double seconds)
{
    is_bound = 1;
    bound(seconds);
}

static void bound_together_repaired(double seconds) { bound(seconds); }

/* thread-churn: a thread for each of many short tasks; repaired, one thread for all of them. */
KEPT static void short_task(void)
{
    uint64_t x = kept_result;
    BURN(x, 10000);
    kept_result = x;
}

static void *one_task(void *argument)
{
    short_task();
    return argument;
}

static void *all_tasks(void *argument)
{
    while (wall() < until)
        short_task();
    return argument;
}

KEPT static void thread_for_task(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, one_task, NULL) != 0)
        exit(2);
    pthread_join(thread, NULL);
}

static void thread_churn(double seconds)
{
    for (double until_cpu = process_cpu() + seconds; process_cpu() < until_cpu;)
        thread_for_task();
}

static void thread_churn_repaired(double seconds)
{
    until = wall() + seconds;
    start(all_tasks, NULL);
    join_all();
}

/* sleep-poll: two threads work in turns, and sleep until they see that it is theirs; repaired, they wait for
   it. */
static int turn;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

KEPT static void sleep_until_turn(int mine)
{
    while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != mine && wall() < until)
        usleep(3000);
}

KEPT static void wait_for_turn(int mine)
{
    pthread_mutex_lock(&mutex);
    while (turn != mine)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void *sleeping_player(void *argument)
{
    int mine = (int)(intptr_t)argument;
    while (wall() < until) {
        sleep_until_turn(mine);
        burn_cpu(0.0005);
        __atomic_store_n(&turn, !mine, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static int played;

static void *waiting_player(void *argument)
{
    int mine = (int)(intptr_t)argument;
    for (int i = 0; i < played; i++) {
        wait_for_turn(mine);
        burn_cpu(0.0005);
        pthread_mutex_lock(&mutex);
        turn = !mine;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void sleep_poll(double seconds)
{
    until = wall() + seconds;
    start(sleeping_player, (void *)(intptr_t)0);
    start(sleeping_player, (void *)(intptr_t)1);
    join_all();
}

static void sleep_poll_repaired(double seconds)
{
    played = (int)(seconds / 0.001);
    start(waiting_player, (void *)(intptr_t)0);
    start(waiting_player, (void *)(intptr_t)1);
    join_all();
}

/* work-by-turns: what is left of sleep-poll when that is repaired; repaired itself, nobody needs a turn. */
static void *player_without_turns(void *argument)
{
    for (int i = 0; i < played; i++)
        burn_cpu(0.0005);
    return argument;
}

static void work_by_turns_repaired(double seconds)
{
    played = (int)(seconds / 0.001);
    start(player_without_turns, NULL);
    start(player_without_turns, NULL);
    join_all();
}

/* one-at-a-time: a limit on what works at once lets one in; repaired, two. */
static sem_t limit;

KEPT static void enter_limited(void)
{
    while (sem_wait(&limit) != 0)
        continue;
}

static void *limited(void *seconds)
{
    double since = wall();
    enter_limited();
    has_lost(wall() - since);
    burn_cpu(*(double *)seconds);
    sem_post(&limit);
    return NULL;
}

static void work_within_limit(double seconds, unsigned at_once)
{
    double each = seconds / 4;
    sem_init(&limit, 0, at_once);
    for (int i = 0; i < 4; i++)
        start(limited, &each);
    join_all();
}

static void one_at_a_time(double seconds) { work_within_limit(seconds, 1); }
static void one_at_a_time_repaired(double seconds) { work_within_limit(2 * seconds, 2); }

/* unexplained-wait: after each step a wait that nobody ends before its time is up; repaired, the next step
   begins at once. */
KEPT static void wait_out_interval(double seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    long nanoseconds = end.tv_nsec + (long)(seconds * 1e9);
    end.tv_sec += nanoseconds / 1000000000;
    end.tv_nsec = nanoseconds % 1000000000;
    double since = wall();
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&changed, &mutex, &end) == 0)
        ;
    pthread_mutex_unlock(&mutex);
    has_lost(wall() - since);
}

static void unexplained_wait(double seconds)
{
    for (int i = 0; i < (int)(seconds / 0.02); i++) {
        burn_cpu(0.01);
        wait_out_interval(0.01);
    }
}

static void unexplained_wait_repaired(double seconds)
{
    for (int i = 0; i < (int)(seconds / 0.02); i++)
        burn_cpu(0.01);
}

/* sleeping-worker: one of two workers sleeps after each piece of work; repaired, neither does. */
static int pause_us;

KEPT static void rest_a_while(void)
{
    usleep((useconds_t)pause_us);
}

static void *resting(void *argument)
{
    double slept = 0;
    while (wall() < until) {
        burn_cpu(0.004);
        if (pause_us > 0 && argument == NULL) {
            double since = wall();
            rest_a_while();
            slept += wall() - since;
        }
    }
    if (argument == NULL)
        has_lost(slept);
    return NULL;
}

static void two_workers(double seconds, int pause)
{
    pause_us = pause;
    until = wall() + seconds;
    start(resting, NULL);
    start(resting, &until);
    join_all();
}

static void sleeping_worker(double seconds)
{
    two_workers(seconds, 4000);
}

static void sleeping_worker_repaired(double seconds)
{
    two_workers(seconds, 0);
}

/* process-churn: a shell for each of many numbers; repaired, the process prints them itself. */
KEPT static int length_by_shell(int number)
{
    char line[64];
    snprintf(line, sizeof line, "echo %d", number);
    FILE *answer = popen(line, "r");
    if (answer == NULL || fgets(line, sizeof line, answer) == NULL || pclose(answer) != 0)
        exit(2);
    return (int)strlen(line);
}

static void process_churn(double seconds)
{
    until = wall() + seconds;
    for (int i = 0; wall() < until; i++)
        kept_result += length_by_shell(i);
}

static void process_churn_repaired(double seconds)
{
    char line[64];
    for (double end = wall() + seconds; wall() < end;)
        kept_result += snprintf(line, sizeof line, "%g\n", end);
}

/* spin-wait: a thread gives its processor away until there is work; repaired, it blocks. */
static int ready;

KEPT static void wait_by_yielding(void)
{
    while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
        sched_yield();
}

static void *yielding(void *argument)
{
    wait_by_yielding();
    has_lost(thread_cpu());
    return argument;
}

static void *blocking(void *argument)
{
    while (sem_wait(&posted) != 0)
        continue;
    return argument;
}

static void spin_wait(double seconds)
{
    start(yielding, NULL);
    burn_cpu(seconds);
    __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
    join_all();
}

static void spin_wait_repaired(double seconds)
{
    sem_init(&posted, 0, 0);
    start(blocking, NULL);
    burn_cpu(seconds);
    sem_post(&posted);
    join_all();
}

/* busy-wait: a thread reads memory until there is work; repaired, it blocks (as above). */
static int announced;

KEPT static void wait_by_reading(void)
{
    while (!__atomic_load_n(&announced, __ATOMIC_ACQUIRE))
        continue;
}

static void *reading(void *argument)
{
    wait_by_reading();
    has_lost(thread_cpu());
    return argument;
}

static void busy_wait(double seconds)
{
    start(reading, NULL);
    burn_cpu(seconds);
    __atomic_store_n(&announced, 1, __ATOMIC_RELEASE);
    join_all();
}

const struct finding_case waiting_cases[] = {
    {"small-tasks", small_tasks, small_tasks_repaired},
    {"oversubscription", oversubscription, oversubscription_repaired},
    {"bound-together", bound_together, bound_together_repaired},
    {"thread-churn", thread_churn, thread_churn_repaired},
    {"sleep-poll", sleep_poll, sleep_poll_repaired},
    {"work-by-turns", sleep_poll_repaired, work_by_turns_repaired},
    {"one-at-a-time", one_at_a_time, one_at_a_time_repaired},
    {"unexplained-wait", unexplained_wait, unexplained_wait_repaired},
    {"sleeping-worker", sleeping_worker, sleeping_worker_repaired},
    {"process-churn", process_churn, process_churn_repaired},
    {"spin-wait", spin_wait, spin_wait_repaired},
    {"busy-wait", busy_wait, spin_wait_repaired},
    {NULL, NULL, NULL},
};

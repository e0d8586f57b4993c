/*
 * Waits that go wrong, or end in ways nobody expects.
 * hostile_waits [SECONDS of each wait] CASE
 * CASE: robust recursive checking shared inherited destroyed foreign holding cancelled jumps handlers
 * forked million killed killed-holding returns leaves joins joined-at-exit.
 *
 * Prints for each thread, child processes included: pid, tid, name, wall_s and cpu_s, and its waits: kind,
 * object, how the wait counts (lock, barrier, or passive), calls, seconds. A wait that never ends is
 * counted until the truth is printed, which is the last that the program does. `unexpected` counts results
 * that the manuals do not allow.
 */
#include "waited.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static double part_s;
static int unexpected;
static const char *case_name;

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            __atomic_add_fetch(&unexpected, 1, __ATOMIC_RELAXED);                                            \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                          \
        }                                                                                                    \
    } while (0)

static void print_truth(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"program\":\"hostile_waits\",\"case\":\"%s\",\"pid\":%d,\"unexpected\":%d,\"peak_kib\":%ld,",
           case_name, (int)getpid(), unexpected, usage.ru_maxrss);
    print_threads();
    printf(",\"cpu_s\":%.6f,\"wall_s\":%.6f}\n", process_cpu(), wall() - truths->list[0].began);
    fflush(stdout);
}

/* Where the waits are, so that call paths name it. */
KEPT static int lock_it(pthread_mutex_t *mutex, const char *object)
{
    int error;
    WAIT("mutex", object, LOCK, error = pthread_mutex_lock(mutex));
    return error;
}

KEPT static void sleep_for(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    WAIT("sleep", "nanosleep", PASSIVE, ({
             while (nanosleep(&left, &left) != 0 && errno == EINTR)
                 continue;
             0;
         }));
}

static struct timespec from_now(clockid_t clock, double seconds)
{
    double until = clock_now(clock) + seconds;
    return (struct timespec){(time_t)until, (long)((until - (double)(time_t)until) * 1e9)};
}

/* Told by the holder as soon as it holds. Spun on, so that nothing but the lock is waited for. */
static int *held;
static void now_held(void) { __atomic_store_n(held, 1, __ATOMIC_RELEASE); }
static void until_held(void)
{
    while (!__atomic_load_n(held, __ATOMIC_ACQUIRE))
        burn_cpu(0.0005);
    __atomic_store_n(held, 0, __ATOMIC_RELEASE);
}

static void make_mutex(pthread_mutex_t *mutex, int type, int shared, int robust, int protocol)
{
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, type);
    pthread_mutexattr_setpshared(&how, shared);
    pthread_mutexattr_setrobust(&how, robust);
    pthread_mutexattr_setprotocol(&how, protocol);
    EXPECT(pthread_mutex_init(mutex, &how) == 0);
    pthread_mutexattr_destroy(&how);
}

/* Shared with children. */
static struct common {
    int held;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    sem_t semaphore;
    int ready;
} *common;

static void holder_and_waiter(void (*hold)(void), void (*wait_for)(void))
{
    struct role holder, waiter;
    start(&holder, "holder", hold);
    start(&waiter, "waiter", wait_for);
    join(&holder);
    join(&waiter);
}

/* robust: the owner ends with the lock held. */
static void hold_and_end(void)
{
    EXPECT(lock_it(&common->mutex, "robust") == 0);
    now_held();
    burn_cpu(part_s);
}

static void inherit_from_the_dead(void)
{
    until_held();
    EXPECT(lock_it(&common->mutex, "robust") == EOWNERDEAD);
    EXPECT(pthread_mutex_consistent(&common->mutex) == 0);
    pthread_mutex_unlock(&common->mutex);
}

static void with_robust(void)
{
    make_mutex(&common->mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_ROBUST,
               PTHREAD_PRIO_NONE);
    holder_and_waiter(hold_and_end, inherit_from_the_dead);
}

/* recursive, checking: the owner locks twice. */
static int second_result;

static void hold_twice(void)
{
    EXPECT(lock_it(&common->mutex, "owned") == 0);
    EXPECT(lock_it(&common->mutex, "owned") == second_result);
    now_held();
    burn_cpu(part_s);
    if (second_result == 0)
        pthread_mutex_unlock(&common->mutex);
    EXPECT(pthread_mutex_unlock(&common->mutex) == 0);
}

static void wait_and_unlock(void)
{
    until_held();
    EXPECT(lock_it(&common->mutex, "owned") == 0);
    EXPECT(pthread_mutex_unlock(&common->mutex) == 0);
    EXPECT(second_result == 0 || pthread_mutex_unlock(&common->mutex) == EPERM);
}

static void with_recursive(void)
{
    make_mutex(&common->mutex, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_STALLED,
               PTHREAD_PRIO_NONE);
    holder_and_waiter(hold_twice, wait_and_unlock);
    EXPECT(pthread_mutex_unlock(&common->mutex) == EPERM);
}

static void with_checking(void)
{
    second_result = EDEADLK;
    make_mutex(&common->mutex, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_STALLED,
               PTHREAD_PRIO_NONE);
    holder_and_waiter(hold_twice, wait_and_unlock);
}

/* inherited: a holder gets the priority of who waits. */
static void hold_once(void)
{
    EXPECT(lock_it(&common->mutex, "owned") == 0);
    now_held();
    burn_cpu(part_s);
    EXPECT(pthread_mutex_unlock(&common->mutex) == 0);
}

static void with_inherited(void)
{
    make_mutex(&common->mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_PRIVATE, PTHREAD_MUTEX_STALLED,
               PTHREAD_PRIO_INHERIT);
    holder_and_waiter(hold_once, wait_and_unlock);
}

/* shared: a mutex, a condition, a semaphore and a barrier between two processes. */
static void with_shared(void)
{
    pthread_condattr_t for_conditions;
    pthread_barrierattr_t for_barriers;
    make_mutex(&common->mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED, PTHREAD_MUTEX_STALLED,
               PTHREAD_PRIO_NONE);
    pthread_condattr_init(&for_conditions);
    pthread_condattr_setpshared(&for_conditions, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&common->condition, &for_conditions);
    pthread_barrierattr_init(&for_barriers);
    pthread_barrierattr_setpshared(&for_barriers, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&common->barrier, &for_barriers, 2);
    sem_init(&common->semaphore, 1, 0);
    struct truth *childs = new_truth("child");
    pid_t child = fork();
    if (child == 0) {
        begin(childs);
        until_held();
        lock_it(&common->mutex, "shared");
        while (!common->ready)
            WAIT("condition", "shared", PASSIVE, pthread_cond_wait(&common->condition, &common->mutex));
        pthread_mutex_unlock(&common->mutex);
        WAIT("semaphore", "shared", PASSIVE, sem_wait(&common->semaphore));
        WAIT("barrier", "shared", BARRIER, pthread_barrier_wait(&common->barrier));
        end();
        _exit(0);
    }
    lock_it(&common->mutex, "shared");
    now_held();
    burn_cpu(part_s);
    pthread_mutex_unlock(&common->mutex);
    burn_cpu(part_s);
    lock_it(&common->mutex, "shared");
    common->ready = 1;
    pthread_mutex_unlock(&common->mutex);
    pthread_cond_signal(&common->condition);
    burn_cpu(part_s);
    sem_post(&common->semaphore);
    burn_cpu(part_s);
    WAIT("barrier", "shared", BARRIER, pthread_barrier_wait(&common->barrier));
    WAIT("process", "child", PASSIVE, waitpid(child, NULL, 0));
}

/* destroyed: whoever destroys a held lock is refused, and the lock goes on. */
static void hold_and_destroy(void)
{
    EXPECT(lock_it(&common->mutex, "owned") == 0);
    now_held();
    EXPECT(pthread_mutex_destroy(&common->mutex) == EBUSY);
    burn_cpu(part_s);
    EXPECT(pthread_mutex_unlock(&common->mutex) == 0);
}

static void with_destroyed(void)
{
    pthread_mutex_init(&common->mutex, NULL);
    holder_and_waiter(hold_and_destroy, wait_and_unlock);
    EXPECT(pthread_mutex_destroy(&common->mutex) == 0);
}

/* foreign: locked by one thread, unlocked by another one. */
static void lock_only(void)
{
    EXPECT(lock_it(&common->mutex, "owned") == 0);
    now_held();
}

static void with_foreign(void)
{
    struct role holder, waiter;
    pthread_mutex_init(&common->mutex, NULL);
    start(&holder, "holder", lock_only);
    start(&waiter, "waiter", wait_and_unlock);
    burn_cpu(part_s);
    join(&holder);
    pthread_mutex_unlock(&common->mutex);
    join(&waiter);
}

/* holding: the process ends while one of its threads holds a lock and another one waits for it. */
static void hold_for_ever(void)
{
    lock_only();
    for (;;)
        WAIT("pause", "pause", PASSIVE, pause());
}

static void with_holding(void)
{
    struct role holder, waiter;
    pthread_mutex_init(&common->mutex, NULL);
    start(&holder, "holder", hold_for_ever);
    start(&waiter, "waiter", wait_and_unlock);
    sleep_for(part_s);
    print_truth();
    exit(0);
}

/* cancelled: out of every kind of wait that can be cancelled. */
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t of_never = PTHREAD_MUTEX_INITIALIZER;
static sem_t nobody_posts;
static int silent[2];

static void after_cancellation(void *unlock)
{
    end_wait();
    if (unlock != NULL)
        pthread_mutex_unlock(unlock);
    end();
}

#define CANCELLED(name, kind, account, call)                                                                 \
    KEPT static void name(void)                                                                              \
    {                                                                                                        \
        pthread_cleanup_push(after_cancellation, NULL);                                                      \
        for (;;) {                                                                                           \
            begin_wait(kind, #name, account);                                                                \
            (void)!(call);                                                                                   \
            end_wait();                                                                                      \
        }                                                                                                    \
        pthread_cleanup_pop(0);                                                                              \
    }
CANCELLED(in_a_semaphore, "semaphore", PASSIVE, sem_wait(&nobody_posts))
CANCELLED(in_a_sleep, "sleep", PASSIVE, sleep(1000))
CANCELLED(in_a_pipe, "pipe", PASSIVE, read(silent[0], (char[1]){0}, 1))
CANCELLED(in_a_poll, "poll", PASSIVE, poll(&(struct pollfd){.fd = silent[0], .events = POLLIN}, 1, -1))
CANCELLED(in_a_pause, "pause", PASSIVE, pause())

KEPT static void in_a_condition(void)
{
    lock_it(&of_never, "of-condition");
    pthread_cleanup_push(after_cancellation, &of_never);
    for (;;)
        WAIT("condition", "in_a_condition", PASSIVE, pthread_cond_wait(&never, &of_never));
    pthread_cleanup_pop(0);
}

static void with_cancelled(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
        {"condition", in_a_condition}, {"semaphore", in_a_semaphore}, {"sleep", in_a_sleep},
        {"pipe", in_a_pipe},           {"poll", in_a_poll},           {"pause", in_a_pause},
    };
    enum { ALL = sizeof all / sizeof *all };
    struct role roles[ALL];
    EXPECT(pipe(silent) == 0);
    sem_init(&nobody_posts, 0, 0);
    for (int i = 0; i < ALL; i++)
        start(&roles[i], all[i].name, all[i].run);
    sleep_for(part_s);
    for (int i = 0; i < ALL; i++)
        pthread_cancel(roles[i].thread);
    for (int i = 0; i < ALL; i++)
        join(&roles[i]);
}

/* jumps: a signal handler jumps out of a wait, and the thread waits for something else. */
static _Thread_local sigjmp_buf back;
static sem_t may_be_left;
static void jump(int number) { siglongjmp(back, number); }

#define LEFT_BY_A_JUMP(kind, object, account, call)                                                          \
    do {                                                                                                     \
        begin_wait(kind, object, account);                                                                   \
        if (sigsetjmp(back, 1) == 0) {                                                                       \
            sem_post(&may_be_left);                                                                          \
            (void)!(call);                                                                                   \
            EXPECT(!"left by the jump");                                                                     \
        }                                                                                                    \
        end_wait();                                                                                          \
        /* The next wait comes when the last one is long over. */                                            \
        burn_cpu(0.02);                                                                                      \
        sleep_for(part_s / 2);                                                                               \
        burn_cpu(0.02);                                                                                      \
    } while (0)

static void jump_out_of_waits(void)
{
    struct timespec hour = {3600, 0}, until = from_now(CLOCK_REALTIME, 3600);
    LEFT_BY_A_JUMP("pause", "pause", PASSIVE, pause());
    LEFT_BY_A_JUMP("sleep", "nanosleep", PASSIVE, nanosleep(&hour, NULL));
    LEFT_BY_A_JUMP("mutex", "never-free", LOCK, pthread_mutex_timedlock(&of_never, &until));
    LEFT_BY_A_JUMP("poll", "poll", PASSIVE, poll(NULL, 0, -1));
}

static void with_jumps(void)
{
    struct role jumper;
    signal(SIGUSR2, jump);
    sem_init(&may_be_left, 0, 0);
    pthread_mutex_lock(&of_never);
    start(&jumper, "jumper", jump_out_of_waits);
    for (int i = 0; i < 4; i++) {
        WAIT("semaphore", "may-be-left", PASSIVE, sem_wait(&may_be_left));
        sleep_for(part_s);
        pthread_kill(jumper.thread, SIGUSR2);
    }
    join(&jumper);
    pthread_mutex_unlock(&of_never);
}

/* handlers: a signal handler that locks and sleeps, while the thread works or waits itself. */
static void lock_and_sleep(int number)
{
    (void)number;
    int saved = errno;
    struct timespec half = {0, (long)(part_s / 2 * 1e9)};
    pthread_mutex_lock(&of_never);
    nanosleep(&half, NULL);
    pthread_mutex_unlock(&of_never);
    errno = saved;
}

/* The handler's waits are within the pause: the thread is in one thing at a time. */
static void wait_with_handler(void)
{
    WAIT("pause", "pause", PASSIVE, pause());
    burn_cpu(part_s / 4);
    sleep_for(part_s / 4);
}

/* Here the handler comes while the thread works: the sleep is the handler's. */
static void work_with_handler(void)
{
    begin_wait("sleep", "in-the-handler", PASSIVE);
    raise(SIGUSR1);
    end_wait();
    burn_cpu(part_s);
}

static void with_handlers(void)
{
    struct role waits, works;
    signal(SIGUSR1, lock_and_sleep);
    start(&waits, "waits", wait_with_handler);
    while (__atomic_load_n(&waits.truth->open.kind, __ATOMIC_ACQUIRE) == NULL)
        sleep_for(0.002);
    sleep_for(part_s / 2);
    pthread_kill(waits.thread, SIGUSR1);
    join(&waits);
    start(&works, "works", work_with_handler);
    join(&works);
}

/* forked: a child uses locks that were held when it was made, and becomes another program. */
static void with_forked(void)
{
    struct role holder;
    struct truth *childs = new_truth("child");
    pthread_mutex_init(&common->mutex, NULL);
    EXPECT(lock_it(&of_never, "mine") == 0);
    start(&holder, "holder", lock_only);
    join(&holder);
    pid_t child = fork();
    if (child == 0) {
        begin(childs);
        /* Held by this thread, and so by its copy. */
        EXPECT(pthread_mutex_unlock(&of_never) == 0);
        EXPECT(lock_it(&of_never, "mine") == 0);
        /* Held by a thread that is not here. */
        struct timespec until = from_now(CLOCK_REALTIME, part_s);
        int error;
        WAIT("mutex", "orphaned", LOCK, error = pthread_mutex_timedlock(&common->mutex, &until));
        EXPECT(error == ETIMEDOUT);
        end();
        if (unexpected != 0)
            _exit(1);
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    int status = 1;
    WAIT("process", "child", PASSIVE, waitpid(child, &status, 0));
    EXPECT(status == 0);
    pthread_mutex_unlock(&common->mutex);
    pthread_mutex_unlock(&of_never);
}

/* million: very many mutexes, each of which a thread waits for in vain; without seconds nobody does. */
enum { MUTEXES = 1000000, WAITERS = 4 };
static pthread_mutex_t *million;
static int next_quarter;

KEPT static void wait_for_a_quarter(void)
{
    int quarter = __atomic_fetch_add(&next_quarter, 1, __ATOMIC_SEQ_CST);
    prctl(PR_SET_TIMERSLACK, 1UL);
    double waited = 0;
    for (int i = quarter; i < MUTEXES; i += WAITERS) {
        /* Most of them give up at once, so that a million of them take seconds and not minutes. */
        struct timespec until = from_now(CLOCK_REALTIME, i % 128 < WAITERS ? 3e-6 : -1e-3);
        double before = wall();
        if (pthread_mutex_timedlock(&million[i], &until) != ETIMEDOUT)
            __atomic_add_fetch(&unexpected, 1, __ATOMIC_RELAXED);
        waited += wall() - before;
    }
    mine->waits[0] = (struct waited){"mutex", "million", LOCK, MUTEXES / WAITERS, waited};
}

static void with_million(void)
{
    struct role waiters[WAITERS];
    million = malloc(MUTEXES * sizeof *million);
    for (int i = 0; i < MUTEXES; i++) {
        pthread_mutex_init(&million[i], NULL);
        pthread_mutex_lock(&million[i]);
    }
    if (part_s <= 0)
        return;
    for (int i = 0; i < WAITERS; i++)
        start(&waiters[i], "waiter", wait_for_a_quarter);
    for (int i = 0; i < WAITERS; i++)
        join(&waiters[i]);
}

/* killed: eight workers without work, and one that waits for itself. */
KEPT static void worker_without_work(void)
{
    lock_it(&of_never, "of-work");
    for (;;)
        WAIT("condition", "work", PASSIVE, pthread_cond_wait(&never, &of_never));
}

KEPT static void deadlocked_with_itself(void)
{
    lock_it(&common->mutex, "own");
    lock_it(&common->mutex, "own");
}

static void start_parked(void)
{
    static struct role parked[9];
    pthread_mutex_init(&common->mutex, NULL);
    for (int i = 0; i < 8; i++)
        start(&parked[i], "parked", worker_without_work);
    start(&parked[8], "deadlocked", deadlocked_with_itself);
}

static void with_killed(void)
{
    start_parked();
    burn_cpu(part_s / 2);
    sleep_for(part_s / 2);
    print_truth();
    kill(getpid(), SIGKILL);
}

/* killed-holding: children that are killed with a lock that they had waited for shortly. */
enum { KILLED = 10 };

static void say(int what) { __atomic_store_n(held, what, __ATOMIC_RELEASE); }
static void until_said(int what)
{
    while (__atomic_load_n(held, __ATOMIC_ACQUIRE) != what)
        continue;
}

static void hold_until_wanted(void)
{
    lock_it(&common->mutex, "wanted");
    say(1);
    until_said(2);
    for (double until = wall() + 0.0005; wall() < until;)
        continue;
    pthread_mutex_unlock(&common->mutex);
    for (;;)
        pause();
}

static void want_and_die(void)
{
    until_said(1);
    say(2);
    lock_it(&common->mutex, "wanted");
    kill(getpid(), SIGKILL);
}

static void with_killed_holding(void)
{
    for (int i = 0; i < KILLED; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            struct role holder, wanting;
            say(0);
            pthread_mutex_init(&common->mutex, NULL);
            start(&holder, "holder", hold_until_wanted);
            start(&wanting, "wanting", want_and_die);
            for (;;)
                pause();
        }
        EXPECT(child > 0 && waitpid(child, &status, 0) == child);
        EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
}

/* returns: main returns while others wait. */
static void with_returns(void)
{
    start_parked();
    sleep_for(part_s);
    print_truth();
    exit(0);
}

/* leaves: main leaves the process to a thread that goes on. */
static pthread_t first_thread;

static void outlive_main(void)
{
    WAIT("join", "main", PASSIVE, pthread_join(first_thread, NULL));
    sleep_for(part_s);
    burn_cpu(part_s / 2);
    print_truth();
    exit(0);
}

static void with_leaves(void)
{
    struct role survivor;
    first_thread = pthread_self();
    start(&survivor, "survivor", outlive_main);
    burn_cpu(part_s / 2);
    sleep_for(part_s / 2);
    end();
    pthread_exit(NULL);
}

/* joins: a thread that waits for one that waits for one that sleeps. */
static void sleeps(void) { sleep_for(part_s); }

static void joins_the_last(void)
{
    struct role last;
    start(&last, "last", sleeps);
    join(&last);
}

static void joins_the_third(void)
{
    struct role third;
    start(&third, "third", joins_the_last);
    join(&third);
}

static void with_joins(void)
{
    for (int i = 0; i < 3; i++) {
        struct role second;
        start(&second, "second", joins_the_third);
        join(&second);
    }
}

/* joined-at-exit: a thread ends the process while main waits for it. */
static void end_the_process(void)
{
    sleep_for(part_s);
    print_truth();
    _exit(0);
}

static void with_joined_at_exit(void)
{
    struct role ender;
    start(&ender, "ender", end_the_process);
    join(&ender);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"robust", with_robust},       {"recursive", with_recursive}, {"checking", with_checking},
    {"inherited", with_inherited}, {"shared", with_shared},       {"destroyed", with_destroyed},
    {"foreign", with_foreign},     {"holding", with_holding},     {"cancelled", with_cancelled},
    {"jumps", with_jumps},         {"handlers", with_handlers},   {"forked", with_forked},
    {"million", with_million},     {"killed", with_killed},       {"returns", with_returns},
    {"leaves", with_leaves},       {"joins", with_joins},         {"joined-at-exit", with_joined_at_exit},
    {"killed-holding", with_killed_holding},
};

int main(int argc, char **argv)
{
    begin_program("hostile_waits");
    part_s = seconds_argument(argc, argv, 1, 0.4);
    case_name = argc > 2 ? argv[2] : "robust";
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (common == MAP_FAILED)
        return 2;
    held = &common->held;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, case_name) == 0) {
            cases[i].run();
            end();
            print_truth();
            return unexpected != 0;
        }
    fprintf(stderr, "hostile_waits: no case %s\n", case_name);
    return 2;
}

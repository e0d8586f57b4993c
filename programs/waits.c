/*
 * Waits of every kind whose length is known: each thread times its own waits by CLOCK_MONOTONIC.
 * waits [SECONDS of each kind] [KIND…]
 * KIND: mutex three-holders timed-mutex condition semaphore barrier join rwlock spin trylock sleep poll
 * once c11 signal process accept. All of them, one after another, where none is given.
 *
 * Prints for each thread: tid, name, wall_s and cpu_s between its first line and its last, and its waits:
 * kind, object, how the wait counts (lock, barrier, or passive), calls, seconds. A call that did not block
 * is a wait too, of well under a microsecond. `held` says for how long the thread held an object while
 * another waited for it.
 */
#include "waited.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>

enum { ONCES = 4096 };

/* A round of most kinds: the one works, the other waits. */
#define ROUND 0.02

static double part_s;
static int rounds;

static void both(const char *first, void (*run_first)(void), const char *second, void (*run_second)(void))
{
    struct role one, other;
    start(&one, first, run_first);
    start(&other, second, run_second);
    join(&one);
    join(&other);
}

/* A turn passes between threads by semaphores, whose waits count like all others. */
static sem_t holding, taken;

static void pass(sem_t *turn) { sem_post(turn); }
static void await(sem_t *turn, const char *name)
{
    WAIT("semaphore", name, PASSIVE, ({
             while (sem_wait(turn) != 0)
                 continue;
             0;
         }));
}

/* Works with `object` held. The other thread is told first: it waits for nearly all of this time. */
static void hold(const char *object, double seconds)
{
    double began = wall();
    pass(&holding);
    burn_cpu(seconds);
    add(mine->held, "hold", object, LOCK, wall() - began);
}

/* mutex: one holds it for 20 ms, the other waits for it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void hold_mutex(void)
{
    for (int i = 0; i < rounds; i++) {
        WAIT("mutex", "mutex", LOCK, pthread_mutex_lock(&mutex));
        hold("mutex", ROUND);
        pthread_mutex_unlock(&mutex);
        await(&taken, "taken");
    }
}

static void wait_for_mutex(void)
{
    for (int i = 0; i < rounds; i++) {
        await(&holding, "holding");
        WAIT("mutex", "mutex", LOCK, pthread_mutex_lock(&mutex));
        pthread_mutex_unlock(&mutex);
        pass(&taken);
    }
}

static void with_mutex(void) { both("mutex-holder", hold_mutex, "mutex-waiter", wait_for_mutex); }

/* three-holders: one mutex, held for 5, 10 and 15 ms by three threads in turn, each from a function of its
   own. */
static sem_t turn_of[3];
static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;

static void take_turns(int who, void (*section)(void))
{
    for (int i = 0; i < rounds; i++) {
        await(&turn_of[who], "turn");
        section();
    }
}

#define HOLDER(name, who, seconds)                                                                           \
    KEPT static void name(void)                                                                              \
    {                                                                                                        \
        WAIT("mutex", "contended", LOCK, pthread_mutex_lock(&contended));                                    \
        hold("contended", seconds);                                                                          \
        pthread_mutex_unlock(&contended);                                                                    \
    }                                                                                                        \
    static void name##_in_turn(void) { take_turns(who, name); }
HOLDER(hold_short, 0, 0.005)
HOLDER(hold_medium, 1, 0.010)
HOLDER(hold_long, 2, 0.015)

static void wait_behind_three(void)
{
    for (int i = 0; i < 3 * rounds; i++) {
        pass(&turn_of[i % 3]);
        await(&holding, "holding");
        WAIT("mutex", "contended", LOCK, pthread_mutex_lock(&contended));
        pthread_mutex_unlock(&contended);
    }
}

static void with_three_holders(void)
{
    struct role waiter, holders[3];
    for (int i = 0; i < 3; i++)
        sem_init(&turn_of[i], 0, 0);
    start(&holders[0], "short-holder", hold_short_in_turn);
    start(&holders[1], "medium-holder", hold_medium_in_turn);
    start(&holders[2], "long-holder", hold_long_in_turn);
    start(&waiter, "waits-for-three", wait_behind_three);
    for (int i = 0; i < 3; i++)
        join(&holders[i]);
    join(&waiter);
}

/* timed-mutex: half of the waits get the mutex, half give up after 10 ms. */
static struct timespec from_now(clockid_t clock, double seconds)
{
    double until = clock_now(clock) + seconds;
    return (struct timespec){(time_t)until, (long)((until - (double)(time_t)until) * 1e9)};
}

static void hold_timed(void)
{
    for (int i = 0; i < rounds; i++) {
        WAIT("mutex", "mutex", LOCK, pthread_mutex_lock(&mutex));
        hold("mutex", ROUND);
        pthread_mutex_unlock(&mutex);
        await(&taken, "taken");
    }
}

static void wait_timed(void)
{
    for (int i = 0; i < rounds; i++) {
        await(&holding, "holding");
        double patience = i % 2 ? 60 : ROUND / 2;
        struct timespec until = from_now(CLOCK_REALTIME, patience),
                        same = from_now(CLOCK_MONOTONIC, patience);
        int error = 0;
        if (i % 4 < 2)
            WAIT("mutex", "mutex", LOCK, error = pthread_mutex_timedlock(&mutex, &until));
        else
            WAIT("mutex", "mutex", LOCK, error = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &same));
        if (error == 0)
            pthread_mutex_unlock(&mutex);
        pass(&taken);
    }
}

static void with_timed_mutex(void) { both("timed-holder", hold_timed, "timed-waiter", wait_timed); }

/* condition: making an item takes 10 ms, using it 2 ms: the consumer waits for four fifths of the time. */
static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_changed = PTHREAD_COND_INITIALIZER;
static int queued;

KEPT static void produce(void)
{
    for (int i = 0; i < 2 * rounds; i++) {
        burn_cpu(0.010);
        WAIT("mutex", "queue", LOCK, pthread_mutex_lock(&queue_mutex));
        queued++;
        pthread_cond_signal(&queue_changed);
        pthread_mutex_unlock(&queue_mutex);
    }
}

KEPT static void consume(void)
{
    for (int i = 0; i < 2 * rounds; i++) {
        WAIT("mutex", "queue", LOCK, pthread_mutex_lock(&queue_mutex));
        while (queued == 0)
            WAIT("condition", "queue-changed", PASSIVE, pthread_cond_wait(&queue_changed, &queue_mutex));
        queued--;
        pthread_mutex_unlock(&queue_mutex);
        burn_cpu(0.002);
    }
}

static void with_condition(void) { both("producer", produce, "consumer", consume); }

/* semaphore: posted every 20 ms. */
static sem_t posted;

static void post(void)
{
    for (int i = 0; i < rounds; i++) {
        burn_cpu(ROUND);
        sem_post(&posted);
    }
}

static void wait_for_post(void)
{
    for (int i = 0; i < rounds; i++) {
        struct timespec until = from_now(CLOCK_REALTIME, 60), same = from_now(CLOCK_MONOTONIC, 60);
        switch (i % 3) {
        case 0: WAIT("semaphore", "posted", PASSIVE, sem_wait(&posted)); break;
        case 1: WAIT("semaphore", "posted", PASSIVE, sem_timedwait(&posted, &until)); break;
        case 2: WAIT("semaphore", "posted", PASSIVE, sem_clockwait(&posted, CLOCK_MONOTONIC, &same)); break;
        }
    }
}

static void with_semaphore(void) { both("poster", post, "sem-waiter", wait_for_post); }

/* barrier: of three threads one works 20 ms, the others 5 ms. */
static pthread_barrier_t barrier;

static void come(double work)
{
    for (int i = 0; i < rounds; i++) {
        burn_cpu(work);
        WAIT("barrier", "barrier", BARRIER, pthread_barrier_wait(&barrier));
    }
}
KEPT static void come_late(void) { come(ROUND); }
KEPT static void come_early(void) { come(ROUND / 4); }

static void with_barrier(void)
{
    pthread_barrier_init(&barrier, NULL, 3);
    struct role late, early[2];
    start(&late, "late", come_late);
    start(&early[0], "early-1", come_early);
    start(&early[1], "early-2", come_early);
    join(&late);
    join(&early[0]);
    join(&early[1]);
    pthread_barrier_destroy(&barrier);
}

/* join: of a thread that works all the time. */
static void work_all_the_time(void) { burn_cpu(part_s); }

static void with_join(void)
{
    struct role worker;
    start(&worker, "joined", work_all_the_time);
    join(&worker);
}

/* rwlock: a reader behind a writer, then a writer behind a reader. */
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void hold_rwlock(void)
{
    for (int i = 0; i < rounds; i++) {
        if (i % 2)
            WAIT("rwlock", "rwlock", LOCK, pthread_rwlock_wrlock(&rwlock));
        else
            WAIT("rwlock", "rwlock", LOCK, pthread_rwlock_rdlock(&rwlock));
        hold("rwlock", ROUND);
        pthread_rwlock_unlock(&rwlock);
        await(&taken, "taken");
    }
}

static void wait_for_rwlock(void)
{
    for (int i = 0; i < rounds; i++) {
        await(&holding, "holding");
        if (i % 2)
            WAIT("rwlock", "rwlock", LOCK, pthread_rwlock_rdlock(&rwlock));
        else
            WAIT("rwlock", "rwlock", LOCK, pthread_rwlock_wrlock(&rwlock));
        pthread_rwlock_unlock(&rwlock);
        pass(&taken);
    }
}

static void with_rwlock(void) { both("rwlock-holder", hold_rwlock, "rwlock-waiter", wait_for_rwlock); }

/* spin: the waiter burns its processor while it waits. */
static pthread_spinlock_t spin;

static void hold_spin(void)
{
    for (int i = 0; i < rounds; i++) {
        WAIT("spin", "spin", LOCK, pthread_spin_lock(&spin));
        hold("spin", ROUND);
        pthread_spin_unlock(&spin);
        await(&taken, "taken");
    }
}

static void wait_for_spin(void)
{
    for (int i = 0; i < rounds; i++) {
        await(&holding, "holding");
        WAIT("spin", "spin", LOCK, pthread_spin_lock(&spin));
        pthread_spin_unlock(&spin);
        pass(&taken);
    }
}

static void with_spin(void)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    both("spin-holder", hold_spin, "spin-waiter", wait_for_spin);
}

/* trylock: the waiter tries again and again, yielding in between. */
static void wait_by_trylock(void)
{
    for (int i = 0; i < rounds; i++) {
        await(&holding, "holding");
        double began = wall();
        while (pthread_mutex_trylock(&mutex) != 0)
            sched_yield();
        add(mine->waits, "trylock", "mutex", LOCK, wall() - began);
        pthread_mutex_unlock(&mutex);
        pass(&taken);
    }
}

static void with_trylock(void) { both("trylock-holder", hold_mutex, "trylock-waiter", wait_by_trylock); }

/* sleep: every member of the family. */
static void sleep_in_all_ways(void)
{
    struct timespec round = {0, (long)(ROUND * 1e9)};
    for (int i = 0; i < rounds; i++) {
        struct timespec until = from_now(CLOCK_MONOTONIC, ROUND);
        switch (i % 5) {
        case 0: WAIT("sleep", "nanosleep", PASSIVE, nanosleep(&round, NULL)); break;
        case 1:
            WAIT("sleep", "clock_nanosleep", PASSIVE, clock_nanosleep(CLOCK_MONOTONIC, 0, &round, NULL));
            break;
        case 2:
            WAIT("sleep", "clock_nanosleep", PASSIVE,
                 clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
            break;
        case 3: WAIT("sleep", "usleep", PASSIVE, usleep((useconds_t)(ROUND * 1e6))); break;
        case 4: WAIT("sleep", "thrd_sleep", PASSIVE, thrd_sleep(&round, NULL)); break;
        }
        burn_cpu(0.001);
    }
}

static void with_sleep(void)
{
    struct role sleeper;
    start(&sleeper, "sleeper", sleep_in_all_ways);
    join(&sleeper);
}

/* poll: input comes every 20 ms; then a time limit that passes. */
static int ends[2];

static void write_now_and_then(void)
{
    for (int i = 0; i < rounds; i++) {
        burn_cpu(ROUND);
        if (write(ends[1], "x", 1) != 1)
            exit(2);
    }
}

static void wait_for_input(void)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event wanted = {.events = EPOLLIN}, ready;
    struct timespec minute = {60, 0};
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &wanted);
    for (int i = 0; i < rounds; i++) {
        struct pollfd one = {.fd = ends[0], .events = POLLIN};
        fd_set set;
        char byte;
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        switch (i % 6) {
        case 0: WAIT("poll", "poll", PASSIVE, poll(&one, 1, -1)); break;
        case 1: WAIT("poll", "ppoll", PASSIVE, ppoll(&one, 1, &minute, NULL)); break;
        case 2: WAIT("poll", "select", PASSIVE, select(ends[0] + 1, &set, NULL, NULL, NULL)); break;
        case 3:
            WAIT("poll", "pselect", PASSIVE, pselect(ends[0] + 1, &set, NULL, NULL, &minute, NULL));
            break;
        case 4: WAIT("poll", "epoll_wait", PASSIVE, epoll_wait(epoll, &ready, 1, -1)); break;
        case 5: WAIT("poll", "epoll_pwait", PASSIVE, epoll_pwait(epoll, &ready, 1, 60000, NULL)); break;
        }
        if (read(ends[0], &byte, 1) != 1)
            exit(2);
    }
    WAIT("poll", "poll", PASSIVE, poll(NULL, 0, 20));
    close(epoll);
}

static void with_poll(void)
{
    if (pipe(ends) != 0)
        exit(2);
    both("poll-writer", write_now_and_then, "poll-waiter", wait_for_input);
    close(ends[0]);
    close(ends[1]);
}

/* once: an initialiser that takes 20 ms, and another thread that needs what it makes. */
static pthread_once_t onces[ONCES];

KEPT static void initialise(void)
{
    double began = wall();
    pass(&holding);
    burn_cpu(ROUND);
    add(mine->held, "hold", "once", LOCK, wall() - began);
}

static void first_caller(void)
{
    for (int i = 0; i < rounds; i++) {
        pthread_once(&onces[i], initialise);
        await(&taken, "taken");
    }
}

static void second_caller(void)
{
    for (int i = 0; i < rounds; i++) {
        await(&holding, "holding");
        WAIT("once", "once", LOCK, pthread_once(&onces[i], initialise));
        pass(&taken);
    }
}

static void with_once(void)
{
    static const pthread_once_t fresh = PTHREAD_ONCE_INIT;
    for (int i = 0; i < ONCES; i++)
        onces[i] = fresh;
    both("initialiser", first_caller, "once-waiter", second_caller);
}

/* c11: mtx, cnd and thrd_join of the C standard. */
static mtx_t standard_mutex, standard_queue;
static cnd_t standard_changed;
static int standard_queued;

static void c11_one(void)
{
    for (int i = 0; i < rounds; i++) {
        WAIT("mutex", "mtx", LOCK, mtx_lock(&standard_mutex));
        hold("mtx", ROUND / 2);
        mtx_unlock(&standard_mutex);
        await(&taken, "taken");
        burn_cpu(ROUND / 2);
        WAIT("mutex", "mtx-queue", LOCK, mtx_lock(&standard_queue));
        standard_queued++;
        cnd_signal(&standard_changed);
        mtx_unlock(&standard_queue);
    }
}

static void c11_other(void)
{
    for (int i = 0; i < rounds; i++) {
        await(&holding, "holding");
        WAIT("mutex", "mtx", LOCK, mtx_lock(&standard_mutex));
        mtx_unlock(&standard_mutex);
        pass(&taken);
        WAIT("mutex", "mtx-queue", LOCK, mtx_lock(&standard_queue));
        while (standard_queued == 0)
            WAIT("condition", "cnd", PASSIVE, cnd_wait(&standard_changed, &standard_queue));
        standard_queued--;
        mtx_unlock(&standard_queue);
    }
}

static int play_c11(void *role)
{
    play(role);
    return 0;
}

static void with_c11(void)
{
    mtx_init(&standard_mutex, mtx_plain);
    mtx_init(&standard_queue, mtx_plain);
    cnd_init(&standard_changed);
    struct role one = {.run = c11_one, .truth = new_truth("c11-holder")};
    struct role other = {.run = c11_other, .truth = new_truth("c11-waiter")};
    thrd_t threads[2];
    if (thrd_create(&threads[0], play_c11, &one) != thrd_success ||
        thrd_create(&threads[1], play_c11, &other) != thrd_success)
        exit(2);
    WAIT("join", "c11-holder", PASSIVE, thrd_join(threads[0], NULL));
    WAIT("join", "c11-waiter", PASSIVE, thrd_join(threads[1], NULL));
}

/* signal: sent every 20 ms to a thread that waits for it; it stays pending where it comes too early. */
static pthread_t signal_waiter;
static sem_t waiter_known;

static void send_signals(void)
{
    await(&waiter_known, "waiter-known");
    for (int i = 0; i < rounds; i++) {
        burn_cpu(ROUND);
        pthread_kill(signal_waiter, SIGUSR2);
        await(&taken, "taken");
    }
}

static void on_signal(int number) { (void)number; }

static void wait_for_signals(void)
{
    sigset_t usr2, none;
    struct timespec minute = {60, 0};
    int number;
    sigemptyset(&none);
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &usr2, NULL);
    signal(SIGUSR2, on_signal);
    signal_waiter = pthread_self();
    pass(&waiter_known);
    for (int i = 0; i < rounds; i++) {
        switch (i % 4) {
        case 0: WAIT("signal", "sigwait", PASSIVE, sigwait(&usr2, &number)); break;
        case 1: WAIT("signal", "sigwaitinfo", PASSIVE, sigwaitinfo(&usr2, NULL)); break;
        case 2: WAIT("signal", "sigtimedwait", PASSIVE, sigtimedwait(&usr2, NULL, &minute)); break;
        case 3: WAIT("signal", "sigsuspend", PASSIVE, sigsuspend(&none)); break;
        }
        pass(&taken);
    }
}

static void with_signal(void)
{
    sem_init(&waiter_known, 0, 0);
    both("signaller", send_signals, "signal-waiter", wait_for_signals);
}

/* process: a child that works 20 ms. */
static void wait_for_children(void)
{
    for (int i = 0; i < rounds; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            burn_cpu(thread_cpu() + ROUND);
            _exit(0);
        }
        siginfo_t info;
        if (i % 2)
            WAIT("process", "waitpid", PASSIVE, waitpid(child, &status, 0));
        else {
            WAIT("process", "waitid", PASSIVE, waitid(P_PID, (id_t)child, &info, WEXITED));
        }
    }
}

static void with_process(void)
{
    struct role parent;
    start(&parent, "parent", wait_for_children);
    join(&parent);
}

/* accept: a connection every 20 ms, and a byte over it after 20 ms more. */
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_length;
static int listener;

static void connect_now_and_then(void)
{
    for (int i = 0; i < rounds; i += 2) {
        burn_cpu(ROUND);
        int client = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(client, (struct sockaddr *)&address, address_length) != 0)
            exit(2);
        burn_cpu(ROUND);
        if (send(client, "x", 1, 0) != 1)
            exit(2);
        close(client);
    }
}

static void accept_connections(void)
{
    for (int i = 0; i < rounds; i += 2) {
        int connection = -1;
        char byte;
        WAIT("accept", "accept", PASSIVE, connection = accept(listener, NULL, NULL));
        WAIT("socket", "recv", PASSIVE, recv(connection, &byte, 1, 0));
        close(connection);
    }
}

static void with_accept(void)
{
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "waits-%ld", (long)getpid());
    address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, address_length) != 0 || listen(listener, 5) != 0)
        exit(2);
    both("connector", connect_now_and_then, "acceptor", accept_connections);
    close(listener);
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {
    {"mutex", with_mutex},         {"three-holders", with_three_holders},
    {"timed-mutex", with_timed_mutex}, {"condition", with_condition},
    {"semaphore", with_semaphore}, {"barrier", with_barrier},
    {"join", with_join},           {"rwlock", with_rwlock},
    {"spin", with_spin},           {"trylock", with_trylock},
    {"sleep", with_sleep},         {"poll", with_poll},
    {"once", with_once},           {"c11", with_c11},
    {"signal", with_signal},       {"process", with_process},
    {"accept", with_accept},
};

static int asked_for(const char *kind, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], kind) == 0)
            return 1;
    return argc <= 2;
}

int main(int argc, char **argv)
{
    begin_program("waits");
    part_s = seconds_argument(argc, argv, 1, 0.2);
    rounds = (int)(part_s / ROUND + 0.5);
    rounds = rounds < 1 ? 1 : rounds > ONCES ? ONCES : rounds;
    sem_init(&holding, 0, 0);
    sem_init(&taken, 0, 0);
    sem_init(&posted, 0, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (asked_for(kinds[i].name, argc, argv))
            kinds[i].run();
    end();
    printf("{\"program\":\"waits\",");
    print_threads();
    printf(",\"cpu_s\":%.6f,\"wall_s\":%.6f}\n", process_cpu(), mine->wall_s);
    return 0;
}

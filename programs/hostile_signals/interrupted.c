/*
 * Calls that are interrupted again and again by signals as a sampler's timers send them: a thread sends
 * them by hand. Where nobody samples they are ignored, as SIGURG is, and interrupt nothing.
 */
#include "cases.h"

#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>

enum { RESUME_CALLS = 32, PANIC = 64, OPTIONS_AT = 32 };

/* Options of the run that may change while it lasts. */
static void ask_of_the_run(uint32_t option)
{
    char path[4096];
    uint32_t options = 0;
    if (getenv("PROUST_RUN") == NULL)
        return;
    snprintf(path, sizeof path, "%s/control", getenv("PROUST_RUN"));
    int file = open(path, O_RDWR | O_CLOEXEC);
    /* Silent where it succeeds: alone there is no such file, and the lines are the same. */
    if (pread(file, &options, sizeof options, OPTIONS_AT) != sizeof options)
        CHECK_IS(0, sizeof options);
    options |= option;
    if (pwrite(file, &options, sizeof options, OPTIONS_AT) != sizeof options)
        CHECK_IS(0, sizeof options);
    close(file);
}

static volatile int stop_interrupting, interrupted_thread;

static void *interrupts(void *unused)
{
    (void)unused;
    while (!stop_interrupting) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        info.si_signo = SIGURG;
        info.si_code = SI_TIMER;
        info.si_value.sival_ptr = (void *)0x50524f5553540001;
        syscall(SYS_rt_tgsigqueueinfo, getpid(), interrupted_thread, SIGURG, &info);
        usleep(3000);
    }
    return NULL;
}

static int ends[2];

/* What it wrote is checked by who joins it: two threads would print their lines in either order. */
static void *writes_later(void *unused)
{
    (void)unused;
    usleep(40000);
    return (void *)write(ends[1], "x", 1);
}

static const double asked = 0.04;

/* Fails early, or much too late. */
#define LASTS(call, expected)                                                                                \
    do {                                                                                                     \
        double lasts_since = wall();                                                                         \
        errno = 0;                                                                                           \
        CHECK_IS(call, expected);                                                                            \
        double lasts_s = wall() - lasts_since;                                                               \
        if (lasts_s < asked - 0.001 || lasts_s > asked + 5)                                                  \
            printf("%s: WRONG: %s took %f s, errno %d\n", case_now, #call, lasts_s, errno), wrong++;         \
    } while (0)

static void one_after_the_other(void)
{
    struct timespec length = {0, 40000000}, left = {7, 7};
    struct timeval small = {0, 40000};
    int poll_fd = epoll_create1(EPOLL_CLOEXEC), set = semget(IPC_PRIVATE, 1, 0600);
    struct epoll_event event;
    struct pollfd descriptor = {.fd = ends[0], .events = POLLIN};
    struct sembuf take = {0, -1, 0};
    sem_t semaphore;
    sigset_t user;
    sigemptyset(&user);
    sigaddset(&user, SIGUSR2);
    LASTS(nanosleep(&length, NULL), 0);
    LASTS(nanosleep(&length, &left), 0);
    LASTS(clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL), 0);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 40000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    LASTS(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL), 0);
    LASTS(usleep(40000), 0);
    LASTS(poll(&descriptor, 1, 40), 0);
    LASTS(ppoll(&descriptor, 1, &length, NULL), 0);
    LASTS(select(0, NULL, NULL, NULL, &small), 0);
    LASTS(pselect(0, NULL, NULL, NULL, &length, NULL), 0);
    LASTS(epoll_wait(poll_fd, &event, 1, 40), 0);
    LASTS(epoll_pwait(poll_fd, &event, 1, 40, NULL), 0);
    LASTS(sigtimedwait(&user, NULL, &length), -1);
    CHECK_IS(errno, EAGAIN);
    sem_init(&semaphore, 0, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 40000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    LASTS(sem_timedwait(&semaphore, &until), -1);
    CHECK_IS(errno, ETIMEDOUT);
    pthread_t writer;
    void *written;
    char byte;
    pthread_create(&writer, NULL, writes_later, NULL);
    CHECK_IS(poll(&descriptor, 1, -1), 1);
    CHECK_IS(read(ends[0], &byte, 1), 1);
    CHECK_IS(pthread_join(writer, &written), 0);
    CHECK_IS((long)written, 1);
    pthread_create(&writer, NULL, writes_later, NULL);
    CHECK_IS(read(ends[0], &byte, 1), 1);
    CHECK_IS(pthread_join(writer, &written), 0);
    CHECK_IS((long)written, 1);
    CHECK_IS(semctl(set, 0, IPC_RMID), 0);
    (void)take;
    close(poll_fd);
}

static volatile int alarms;
static void counts_alarms(int number) { alarms += number == SIGALRM; }

/*
 * What the program's own signal interrupts stays interrupted. But for one coincidence: a sample that comes
 * as the kernel returns from the program's handler finds the thread as if it had interrupted the call
 * itself, and the call goes on. So a second signal comes if the first one did not end the call, and that
 * may be needed once. The signal is let in by the call alone: it cannot come before.
 */
static void own_signals_interrupt(void)
{
    enum { TIMES = 40 };
    struct sigaction action = {.sa_handler = counts_alarms};
    sigset_t alarm_only, none;
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&none);
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm_only, NULL);
    for (int i = 0; i < TIMES; i++) {
        struct timespec length = {20, 0};
        ualarm(2000, 400000);
        CHECK(ppoll(NULL, 0, &length, &none) == -1 && errno == EINTR);
        ualarm(0, 0);
    }
    sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
    CHECK(alarms >= TIMES && alarms <= TIMES + 1);
}

void interrupted_calls(void)
{
    pthread_t thread;
    CHECK_IS(pipe(ends), 0);
    ask_of_the_run(RESUME_CALLS);
    interrupted_thread = (int)thread_id();
    stop_interrupting = 0;
    pthread_create(&thread, NULL, interrupts, NULL);
    one_after_the_other();
    stop_interrupting = 1;
    pthread_join(thread, NULL);
    own_signals_interrupt();
}

/* A sampler that fails in its handler leaves the program alone. */
void failing_sampler(void)
{
    pthread_t threads[2];
    double seconds = 0.2;
    burn_cpu(0.05);
    ask_of_the_run(PANIC);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, burns, &seconds);
    burn_cpu(0.2);
    for (int i = 0; i < 2; i++)
        CHECK_IS(pthread_join(threads[i], NULL), 0);
    CHECK_IS(system("exit 3"), 3 << 8);
}

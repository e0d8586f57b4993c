/*
 * A signal handler that leaves by siglongjmp, and by swapcontext, at any moment: out of calls that a tool
 * may have hooked. What the program did before must not change how it is measured after.
 * hostile_jumps [SECONDS]
 */
#include "hostile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/time.h>
#include <ucontext.h>

typedef uint64_t work_function(uint64_t x, uint64_t steps);

static sigjmp_buf back;
static volatile sig_atomic_t may_jump;
static long jumps;

static void jump(int signal)
{
    (void)signal;
    if (may_jump) {
        may_jump = 0;
        jumps++;
        siglongjmp(back, 1);
    }
}

/* A timer interrupts this thread so often that some of its signals arrive inside of every short call. */
static void interrupt_every(long us)
{
    struct itimerval timer = {{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static int zeros;
static FILE *nowhere;
static double storm_s;
static double other_wall_s;

static void read_bytes(void)
{
    char byte;
    double until = wall() + storm_s;
    while (wall() < until) {
        if (sigsetjmp(back, 1) == 0) {
            may_jump = 1;
            for (int i = 0; i < 200; i++)
                if (read(zeros, &byte, 1) != 1)
                    abort();
        }
        may_jump = 0;
    }
}

/* A lock that was left while it was being acquired is never touched again. */
static void take_locks(void)
{
    double until = wall() + storm_s;
    while (wall() < until) {
        pthread_mutex_t *mutex = calloc(1, sizeof *mutex);
        if (sigsetjmp(back, 1) == 0) {
            may_jump = 1;
            for (int i = 0; i < 500; i++) {
                pthread_mutex_lock(mutex);
                pthread_mutex_unlock(mutex);
            }
        }
        may_jump = 0;
    }
}

/* A stream that neither locks nor allocates: nothing of the C library's own is left half done. */
static void write_characters(void)
{
    double until = wall() + storm_s;
    while (wall() < until) {
        if (sigsetjmp(back, 1) == 0) {
            may_jump = 1;
            for (int i = 0; i < 200; i++)
                fputc('x', nowhere);
        }
        may_jump = 0;
    }
}

static void run_plugin(work_function *work)
{
    double until = wall() + storm_s;
    char byte;
    while (wall() < until) {
        if (sigsetjmp(back, 1) == 0) {
            may_jump = 1;
            for (int i = 0; i < 20; i++) {
                kept_result = work(kept_result, UNIT / 10);
                if (read(zeros, &byte, 1) != 1)
                    abort();
            }
        }
        may_jump = 0;
    }
}

/* Fibers that a handler switches between: the one that is left goes on later, where it was. */
static ucontext_t fibers[2];
static volatile sig_atomic_t current_fiber, may_switch;
static long switches;

static void switch_fiber(int signal)
{
    (void)signal;
    if (may_switch) {
        int from = current_fiber;
        current_fiber = !from;
        switches++;
        swapcontext(&fibers[from], &fibers[!from]);
    }
}

/* The alarm, blocked or not. */
static void mask_alarm(int how, sigset_t *before)
{
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(how, &alarm, before);
}

static void read_in_fiber(void)
{
    char byte;
    mask_alarm(SIG_UNBLOCK, NULL);
    for (;;)
        if (read(zeros, &byte, 1) != 1)
            abort();
}

static void switch_for(double seconds)
{
    static char stack[128 * 1024];
    struct sigaction action = {.sa_handler = switch_fiber, .sa_flags = SA_RESTART}, before;
    sigset_t open;
    /* It begins with the alarm blocked: swapcontext sets the mask before the registers, and one that came in
       between would save a state that is half of each. */
    mask_alarm(SIG_BLOCK, &open);
    getcontext(&fibers[1]);
    fibers[1].uc_stack.ss_sp = stack;
    fibers[1].uc_stack.ss_size = sizeof stack;
    makecontext(&fibers[1], read_in_fiber, 0);
    sigprocmask(SIG_SETMASK, &open, NULL);
    sigaction(SIGALRM, &action, &before);
    may_switch = 1;
    double until = wall() + seconds;
    char byte;
    while (wall() < until)
        if (read(zeros, &byte, 1) != 1)
            abort();
    /* Only this fiber looks at the clock, so it is this one that goes on. */
    may_switch = 0;
    sigaction(SIGALRM, &before, NULL);
}

/* Work at the depth of the jumps and below it, after all of them. */
KEPT static double late_work(double seconds)
{
    volatile char deeper[4096];
    deeper[0] = 1;
    double begin = thread_cpu();
    uint64_t x = kept_result;
    do
        BURN(x, 50 * UNIT);
    while (thread_cpu() < begin + seconds);
    kept_result = x + (uint64_t)deeper[0];
    return thread_cpu() - begin;
}

/* Reads that take long enough to be recorded one by one, by a thread that nobody interrupts. */
static void *sleeps(void *seconds)
{
    double begin = wall();
    while (wall() < begin + *(double *)seconds)
        usleep(2000);
    other_wall_s = wall() - begin;
    return NULL;
}

int main(int argc, char **argv)
{
    case_now = "jumps";
    storm_s = seconds_argument(argc, argv, 1, 0.4);
    double late_s = 2 * storm_s;
    zeros = open("/dev/zero", O_RDONLY);
    static char buffer[64];
    nowhere = fopen("/dev/null", "w");
    setvbuf(nowhere, buffer, _IOFBF, sizeof buffer);
    __fsetlocking(nowhere, FSETLOCKING_BYCALLER);
    void *library = dlopen("libplugin_a.so", RTLD_NOW);
    work_function *work = library ? (work_function *)dlsym(library, "plugin_a_work") : NULL;
    struct sigaction action = {.sa_handler = jump, .sa_flags = SA_RESTART};
    sigset_t before;
    double other_s = 5 * storm_s + late_s;
    pthread_t other;

    mask_alarm(SIG_BLOCK, &before);
    pthread_create(&other, NULL, sleeps, &other_s);
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGALRM, &action, NULL);

    interrupt_every(97);
    read_bytes();
    take_locks();
    write_characters();
    if (work != NULL)
        run_plugin(work);
    switch_for(storm_s);
    interrupt_every(0);
    CHECK(jumps > 10);
    CHECK(switches > 10);

    if (library != NULL)
        CHECK_IS(dlclose(library), 0);
    double late_cpu_s = late_work(late_s);
    pthread_join(other, NULL);
    printf("{\"late_work_s\":%.6f,\"other_wall_s\":%.6f,\"jumps\":%ld,\"switches\":%ld,\"cpu_s\":%.6f}\n",
           late_cpu_s, other_wall_s, jumps, switches, process_cpu());
    return wrong != 0;
}

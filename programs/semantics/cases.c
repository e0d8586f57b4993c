/* Lines, blocked threads, signals and children: what the groups share. */
#include "cases.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { TEXT = 240, TEXTS = 16, EVENTS = 64 };

static int wrong, all;
void *volatile nowhere = (void *)8;

void outcome(const char *name, const char *expected, const char *format, ...)
{
    char text[4 * TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int right = strcmp(text, expected) == 0;
    all++;
    wrong += !right;
    printf(right ? "%s: %s\n" : "%s: %s   WRONG, expected: %s\n", name, text, expected);
}

int wrong_outcomes(void) { return wrong; }
int all_outcomes(void) { return all; }

static char *next_text(void)
{
    static _Thread_local char texts[TEXTS][TEXT];
    static _Thread_local unsigned next;
    return texts[next++ % TEXTS];
}

const char *error_name(int error)
{
    static const struct {
        int error;
        const char *name;
    } names[] = {
        {0, "0"},
#define NAMED(error) {error, #error}
        NAMED(EPERM),      NAMED(ENOENT),          NAMED(EINTR),       NAMED(EBADF),      NAMED(ECHILD),
        NAMED(EAGAIN),     NAMED(ENOMEM),          NAMED(EACCES),      NAMED(EFAULT),     NAMED(EBUSY),
        NAMED(EEXIST),     NAMED(EXDEV),           NAMED(ENOTDIR),     NAMED(EISDIR),     NAMED(EINVAL),
        NAMED(EMFILE),     NAMED(ENOTTY),          NAMED(EFBIG),       NAMED(ENOSPC),     NAMED(ESPIPE),
        NAMED(EROFS),      NAMED(EPIPE),           NAMED(EDEADLK),     NAMED(ENOSYS),     NAMED(EOVERFLOW),
        NAMED(ENOTSOCK),   NAMED(ENOTCONN),        NAMED(EOPNOTSUPP),  NAMED(EADDRINUSE), NAMED(ECONNREFUSED),
        NAMED(ECONNRESET), NAMED(ETIMEDOUT),       NAMED(EINPROGRESS), NAMED(EISCONN),    NAMED(EDESTADDRREQ),
        NAMED(EOWNERDEAD), NAMED(ENOTRECOVERABLE), NAMED(ESRCH),       NAMED(ELOOP),      NAMED(EMSGSIZE),
        NAMED(ENXIO),      NAMED(ENOTEMPTY),       NAMED(EALREADY),
#undef NAMED
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error)
            return names[i].name;
    char *text = next_text();
    snprintf(text, TEXT, "error %d", error);
    return text;
}

const char *result_text(long result, int error)
{
    char *text = next_text();
    if (result == -1)
        snprintf(text, TEXT, "-1 %s", error_name(error));
    else if (error == 0)
        snprintf(text, TEXT, "%ld", result);
    else
        snprintf(text, TEXT, "%ld, errno became %s", result, error_name(error));
    return text;
}

const char *number(long value)
{
    char *text = next_text();
    snprintf(text, TEXT, "%ld", value);
    return text;
}

static const char *happened[EVENTS];
static atomic_uint happened_count;

void event(const char *what)
{
    unsigned position = atomic_fetch_add(&happened_count, 1);
    if (position < EVENTS)
        happened[position] = what;
}

const char *events(void)
{
    char *text = next_text();
    size_t length = 0;
    unsigned count = atomic_exchange(&happened_count, 0);
    text[0] = 0;
    for (unsigned i = 0; i < count && i < EVENTS; i++) {
        int more = snprintf(text + length, TEXT - length, "%s%s", i ? " " : "", happened[i]);
        if (more < 0 || (size_t)more >= TEXT - length)
            break;
        length += (size_t)more;
    }
    return text;
}

struct timespec ahead(clockid_t clock, long milliseconds)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += milliseconds % 1000 * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    } else if (time.tv_nsec < 0) {
        time.tv_sec--;
        time.tv_nsec += 1000000000;
    }
    /* A machine that has just been started has no minute behind it. */
    if (time.tv_sec < 0)
        time.tv_sec = 0;
    return time;
}

long elapsed_ns(const struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - since->tv_sec) * 1000000000L + now.tv_nsec - since->tv_nsec;
}

static _Thread_local struct worker *this_worker;

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    this_worker = worker;
    atomic_store(&worker->tid, (int)syscall(SYS_gettid));
    return worker->run(worker->argument);
}

void start(struct worker *worker, void *(*run)(void *), void *argument)
{
    worker->run = run;
    worker->argument = argument;
    atomic_store(&worker->tid, 0);
    atomic_store(&worker->arrived, 0);
    if (pthread_create(&worker->thread, NULL, run_worker, worker) != 0) {
        puts("a thread could not be created");
        exit(2);
    }
}

void arrive(void)
{
    if (this_worker != NULL)
        atomic_store(&this_worker->arrived, 1);
}

static void a_moment(void)
{
    struct timespec moment = {0, 1000000};
    while (nanosleep(&moment, &moment) != 0)
        continue;
}

/* How often the thread has gone to sleep so far, or -1 while it is not asleep. */
static long times_asleep(int tid)
{
    char path[64], status[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t length = read(file, status, sizeof status - 1);
    close(file);
    status[length > 0 ? length : 0] = 0;
    const char *state = strstr(status, "\nState:\t"), *times = strstr(status, "\nvoluntary_ctxt_switches:\t");
    if (state == NULL || times == NULL || state[8] != 'S')
        return -1;
    return atol(times + strlen("\nvoluntary_ctxt_switches:\t"));
}

/* Asleep, and not woken in between, at five looks in a row. */
void until_asleep(struct worker *worker)
{
    while (atomic_load(&worker->arrived) == 0)
        a_moment();
    long before = -1;
    for (int same = 0; same < 5; a_moment()) {
        long now = times_asleep(atomic_load(&worker->tid));
        same = now >= 0 && now == before ? same + 1 : 0;
        before = now;
    }
}

void *finish(struct worker *worker)
{
    void *result = NULL;
    int error = pthread_join(worker->thread, &result);
    if (error != 0)
        printf("pthread_join: %s\n", error_name(error));
    return result;
}

struct somewhere {
    int (*function)(void *);
    void *argument;
    int result;
};

static void *call_it(void *argument)
{
    struct somewhere *call = argument;
    call->result = call->function(call->argument);
    return NULL;
}

int elsewhere(int (*function)(void *), void *argument)
{
    struct somewhere call = {function, argument, -1};
    pthread_t thread;
    if (pthread_create(&thread, NULL, call_it, &call) != 0)
        return -1;
    pthread_join(thread, NULL);
    return call.result;
}

volatile sig_atomic_t handled;

void count_signal(int number)
{
    (void)number;
    handled++;
}

void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static struct {
    struct worker target, helper;
    struct worker *previous;
    int number;
} interruption;

static void *interrupt_target(void *argument)
{
    (void)argument;
    until_asleep(&interruption.target);
    pthread_kill(interruption.target.thread, interruption.number);
    return NULL;
}

void interrupt_me(int number)
{
    interruption.previous = this_worker;
    interruption.number = number;
    interruption.target.thread = pthread_self();
    atomic_store(&interruption.target.tid, (int)syscall(SYS_gettid));
    atomic_store(&interruption.target.arrived, 0);
    this_worker = &interruption.target;
    start(&interruption.helper, interrupt_target, NULL);
}

void interrupted(void)
{
    finish(&interruption.helper);
    this_worker = interruption.previous;
}

void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        puts("no shared memory");
        exit(2);
    }
    return memory;
}

pid_t child_of(int (*function)(void *), void *argument)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(function(argument));
    return child;
}

int ended(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

void work(long milliseconds)
{
    static volatile uint64_t kept;
    struct timespec began, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    do {
        uint64_t x = kept;
        for (int i = 0; i < 20000; i++)
            x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        kept = x;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - began.tv_sec) * 1000 + (now.tv_nsec - began.tv_nsec) / 1000000 < milliseconds);
}

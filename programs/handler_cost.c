/*
 * What one sample costs. The program computes the same portion of work again and again, each time with the
 * collector in another mode, which it sets itself in the control page of the run it is recorded into.
 * handler_cost [SECONDS] [DEPTH] [same|leaf|caller|root|readN] [timer|self] [MODE,MODE,…] [PORTION_MS]
 *
 * DEPTH   frames of the sampled call paths, the C library's start included
 * same    every sample meets the same path
 * leaf    another innermost function each time
 * caller  the same innermost function, each time called by another one
 * root    another outermost function each time
 * readN   as same, and after every N units of 20 microseconds a read that does not block: a hooked operation
 * timer   samples come from the collector's timers
 * self    the program sends itself the collector's signal every 20 microseconds of work: many more samples a
 *         second than a timer can give, so that tens of nanoseconds are resolved
 * modes   off (timers disarmed), empty (delivered, nothing done), full, nomemo (every path unwound in full),
 *         bare (a timer of the program's own in place of the collector's, whose handler only sets it again)
 *
 * Prints each portion as [mode, begin ns, end ns (CLOCK_MONOTONIC), CPU ns of the thread, signals sent].
 */
#include "truth.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

/* The beginning of the control page: crates/log/src/control.rs. */
struct control {
    char magic[8];
    uint32_t version, rate_hz;
    uint64_t budget_bytes, taken_bytes;
    volatile uint32_t options;
};
enum { EMPTY_HANDLER = 2, NO_MEMO = 4 };
/* The value that the collector's timer signals carry: crates/collector/src/sample/timer.rs. */
#define COOKIE UINT64_C(0x50524f5553540001)

/* The kernel's layout of siginfo for a timer's signal. */
struct timer_info {
    int32_t signal, error, code, padding, timer, overrun;
    uint64_t value;
    char rest[128 - 32];
};

enum path { SAME, LEAF, CALLER, ROOT };
static enum path path;
static int self, inner_frames;
static uint64_t sent;
static int process_id, own_thread_id;
static struct timer_info info;

/* Written out, so that the signal arrives in the function that sends it. */
INLINED void send_sample(void)
{
#ifdef __x86_64__
    register struct timer_info *fourth __asm__("r10") = &info;
    long result = SYS_rt_tgsigqueueinfo;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"((long)process_id), "S"((long)own_thread_id), "d"((long)SIGURG), "r"(fourth)
                     : "rcx", "r11", "memory");
    sent += result == 0;
#else
    sent += syscall(SYS_rt_tgsigqueueinfo, process_id, own_thread_id, SIGURG, &info) == 0;
#endif
}

static uint64_t units_a_read, units_done;
static int null_file = -1;

INLINED uint64_t unit_of_work(uint64_t x)
{
    BURN(x, UNIT);
    if (units_a_read && ++units_done % units_a_read == 0) {
        char byte;
        x += (uint64_t)read(null_file, &byte, 1);
    }
    if (self)
        send_sample();
    return x;
}

KEPT static uint64_t innermost(uint64_t x) { return unit_of_work(x) + 1; }

#define FUNCTIONS 16
#define FUNCTION(n)                                                                                          \
    KEPT static uint64_t leaf_##n(uint64_t x) { return unit_of_work(x) + n; }                                \
    KEPT static uint64_t caller_##n(uint64_t x) { return innermost(x) + n; }
FUNCTION(0) FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5) FUNCTION(6) FUNCTION(7)
FUNCTION(8) FUNCTION(9) FUNCTION(10) FUNCTION(11) FUNCTION(12) FUNCTION(13) FUNCTION(14) FUNCTION(15)

typedef uint64_t work(uint64_t);
static work *const leaves[FUNCTIONS] = {leaf_0, leaf_1, leaf_2,  leaf_3,  leaf_4,  leaf_5,  leaf_6,  leaf_7,
                                        leaf_8, leaf_9, leaf_10, leaf_11, leaf_12, leaf_13, leaf_14, leaf_15};
static work *const callers[FUNCTIONS] = {caller_0,  caller_1,  caller_2,  caller_3, caller_4,  caller_5,
                                         caller_6,  caller_7,  caller_8,  caller_9, caller_10, caller_11,
                                         caller_12, caller_13, caller_14, caller_15};

/* `units` units of work, `frames` frames further down. */
KEPT static uint64_t descend(uint64_t x, int frames, uint64_t units)
{
    if (frames > 1) {
        x = descend(x, frames - 1, units);
    } else {
        for (uint64_t unit = 0; unit < units; unit++)
            x = (path == CALLER ? callers : leaves)[path == SAME ? 0 : unit % FUNCTIONS](x);
    }
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}

#define ROOTS 4
#define ROOT_FUNCTION(n)                                                                                     \
    KEPT static uint64_t root_##n(uint64_t x, uint64_t units)                                                \
    {                                                                                                        \
        x = descend(x, inner_frames, units);                                                                 \
        return x + n;                                                                                        \
    }
ROOT_FUNCTION(0) ROOT_FUNCTION(1) ROOT_FUNCTION(2) ROOT_FUNCTION(3)

INLINED uint64_t portion(uint64_t x, uint64_t units)
{
    if (path != ROOT)
        return root_0(x, units);
    for (uint64_t unit = 0; unit < units; unit++) {
        switch (unit % ROOTS) {
        case 0: x = root_0(x, 1); break;
        case 1: x = root_1(x, 1); break;
        case 2: x = root_2(x, 1); break;
        default: x = root_3(x, 1); break;
        }
    }
    return x;
}

/* The collector's timers of this thread, by the kernel's numbers: the only timers of this program. The
   first one is on the CPU clock, and expires again and again until the collector sets it; the other one it
   makes and sets itself. */
static int timer = -1;
static struct itimerspec timer_setting;
#define NUMBERS 64

/* System calls by their instruction: the C library's function is one of the collector's hooks, which would
   set the timers again when it returns. */
static long timer_call(long call, int number, long flags, const struct itimerspec *setting)
{
#ifdef __x86_64__
    register long fourth __asm__("r10") = 0;
    long result = call;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"((long)number), "S"(call == SYS_timer_gettime ? (long)setting : flags),
                       "d"((long)setting), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
#else
    return call == SYS_timer_gettime ? syscall(call, number, setting)
                                     : syscall(call, number, flags, setting, NULL);
#endif
}

static void find_timer(void)
{
    for (int number = 0; number < NUMBERS; number++) {
        if (timer_call(SYS_timer_gettime, number, 0, &timer_setting) == 0) {
            timer = number;
            timer_setting.it_value = timer_setting.it_interval;
            return;
        }
    }
}

static void arm_timer(int on)
{
    static const struct itimerspec never;
    if (timer >= 0 && on)
        timer_call(SYS_timer_settime, timer, 0, &timer_setting);
    /* A signal that was on its way sets them again. */
    for (int armed = timer >= 0 && !on; armed;) {
        for (int number = timer; number < NUMBERS; number++)
            timer_call(SYS_timer_settime, number, 0, &never);
        armed = 0;
        for (int number = timer; number < NUMBERS; number++) {
            struct itimerspec now;
            if (timer_call(SYS_timer_gettime, number, 0, &now) == 0)
                armed |= now.it_value.tv_sec != 0 || now.it_value.tv_nsec != 0;
        }
    }
}

/* A timer of the program's own, between ticks like the collector's: what no sampler can do without. */
static int bare_timer = -1;
static volatile int is_bare;
static uint64_t bare_mean_ns;
static uint64_t bare_random = 1;

static void arm_bare(void)
{
    bare_random = bare_random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t ns = bare_mean_ns / 2 + (bare_random >> 33) % bare_mean_ns;
    struct itimerspec once = {{0, 0}, {(time_t)(ns / 1000000000), (long)(ns % 1000000000)}};
    timer_call(SYS_timer_settime, bare_timer, 0, &once);
}

static void on_bare(int signal)
{
    (void)signal;
    if (is_bare)
        arm_bare();
}

static void make_bare(uint32_t rate_hz)
{
    struct sigaction action = {.sa_handler = on_bare, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMAX - 1};
    event._sigev_un._tid = own_thread_id;
    sigaction(SIGRTMAX - 1, &action, NULL);
    bare_mean_ns = 1000000000 / (rate_hz ? rate_hz : 1);
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &bare_timer) != 0)
        bare_timer = -1;
}

static struct control *map_control(void)
{
    const char *folder = getenv("PROUST_RUN");
    char name[4096];
    if (!folder || snprintf(name, sizeof name, "%s/control", folder) >= (int)sizeof name)
        return NULL;
    int file = open(name, O_RDWR);
    void *page = file < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    return page == MAP_FAILED || memcmp(page, "PROUSTCT", 8) != 0 ? NULL : page;
}

struct mode {
    const char *name;
    uint32_t options;
    int timer_on, bare_on;
};
static const struct mode MODES[] = {{"off", 0, 0, 0},
                                    {"empty", EMPTY_HANDLER, 1, 0},
                                    {"full", 0, 1, 0},
                                    {"nomemo", NO_MEMO, 1, 0},
                                    {"bare", 0, 0, 1}};

struct result {
    const struct mode *mode;
    double begin, end, cpu;
    uint64_t sent;
};

int main(int argc, char **argv)
{
    double began = wall(), seconds = seconds_argument(argc, argv, 1, 1.0);
    int depth = argc > 2 ? atoi(argv[2]) : 16;
    const char *path_name = argc > 3 ? argv[3] : "same";
    const char *source = argc > 4 ? argv[4] : "timer";
    const char *mode_names = argc > 5 ? argv[5] : "empty,full";
    double portion_ms = seconds_argument(argc, argv, 6, 100);
    path = strcmp(path_name, "root") == 0     ? ROOT
           : strcmp(path_name, "caller") == 0 ? CALLER
           : strcmp(path_name, "leaf") == 0   ? LEAF
                                              : SAME;
    self = strcmp(source, "self") == 0;
    if (strncmp(path_name, "read", 4) == 0) {
        units_a_read = (uint64_t)atoll(path_name + 4);
        null_file = open("/dev/null", O_RDONLY);
    }
    process_id = getpid();
    own_thread_id = (int)thread_id();
    info.signal = SIGURG;
    info.code = SI_TIMER;
    /* No timer's number: asks for a sample here and now. */
    info.timer = -1;
    info.value = COOKIE;

    const struct mode *modes[8];
    int mode_count = 0;
    char *names = strdup(mode_names);
    for (char *name = strtok(names, ","); name && mode_count < 8; name = strtok(NULL, ",")) {
        for (size_t i = 0; i < sizeof MODES / sizeof *MODES; i++)
            if (strcmp(name, MODES[i].name) == 0)
                modes[mode_count++] = &MODES[i];
    }
    free(names);
    if (mode_count == 0 || portion_ms <= 0) {
        fprintf(stderr, "usage: handler_cost [SECONDS] [DEPTH] [same|leaf|caller|root|readN] [timer|self] "
                        "[MODE,…] [PORTION_MS]\n");
        return 2;
    }

    /* Around the recursion: the start of the C library, main, the root and the leaf. */
    inner_frames = depth - 5 - (path == CALLER);
    if (inner_frames < 1)
        inner_frames = 1;
    struct control *control = map_control();
    find_timer();
    if (timer >= 0)
        make_bare(control ? control->rate_hz : 0);

    /* A portion is a number of units of work, fixed by how long one takes here. */
    double unit_s = 1;
    uint64_t x = 1;
    for (int i = 0; i < 20; i++) {
        double before = thread_cpu();
        BURN(x, UNIT);
        double took = thread_cpu() - before;
        unit_s = took < unit_s ? took : unit_s;
    }
    uint64_t units = (uint64_t)(portion_ms * 1e-3 / unit_s) + 1;
    int rounds = (int)(seconds / (portion_ms * 1e-3 * mode_count)) + 1;
    struct result *results = calloc((size_t)(rounds * mode_count), sizeof *results);

    if (self)
        arm_timer(0);
    for (int round = 0; round < rounds; round++) {
        for (int turn = 0; turn < mode_count; turn++) {
            /* Each mode comes first equally often, and follows each other one. */
            int number = round / mode_count % 2 ? mode_count - 1 - turn : turn;
            const struct mode *mode = modes[(number + round) % mode_count];
            struct result *result = &results[round * mode_count + turn];
            if (control)
                control->options = mode->options;
            if (!self)
                arm_timer(mode->timer_on);
            is_bare = mode->bare_on && bare_timer >= 0;
            if (is_bare)
                arm_bare();
            x = portion(x, self ? 16 : 1);
            sent = 0;
            result->mode = mode;
            result->begin = wall();
            double before = thread_cpu();
            x = portion(x, units);
            result->cpu = thread_cpu() - before;
            result->end = wall();
            result->sent = sent;
        }
    }
    if (control)
        control->options = 0;
    arm_timer(1);
    kept_result = x;

    printf("{\"program\":\"handler_cost\",\"depth\":%d,\"path\":\"%s\",\"source\":\"%s\",\"recorded\":%s,"
           "\"timer\":%d,\"interval_ns\":%.0f,\"units\":%llu,\"portions\":[",
           depth, path_name, source, control ? "true" : "false", timer,
           1e9 * (double)timer_setting.it_interval.tv_sec + (double)timer_setting.it_interval.tv_nsec,
           (unsigned long long)units);
    for (int i = 0; i < rounds * mode_count; i++)
        printf("%s[\"%s\",%.0f,%.0f,%.0f,%llu]", i ? "," : "", results[i].mode->name, results[i].begin * 1e9,
               results[i].end * 1e9, results[i].cpu * 1e9, (unsigned long long)results[i].sent);
    printf("],\"cpu_s\":%.6f,\"wall_s\":%.6f}\n", process_cpu(), wall() - began);
    free(results);
    return 0;
}

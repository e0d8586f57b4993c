/*
 * Limits that a program sets itself, or comes near: address space, locked memory, mappings, keys, and the
 * barriers that it has not asked for.
 * hostile_limits [CASE …]
 * hostile_limits live THREADS   so many threads at once, and what they take
 */
#define _GNU_SOURCE
#include "hostile.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB (1L << 20)

static int status_of(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* A number in KiB that /proc/self/status tells. */
static long kib(const char *name)
{
    char line[256];
    long found = -1;
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL)
        return -1;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            found = strtol(line + strlen(name) + 1, NULL, 10);
    fclose(file);
    return found;
}

static int mappings(void)
{
    int lines = 0, c;
    FILE *file = fopen("/proc/self/maps", "r");
    if (file == NULL)
        return -1;
    while ((c = getc(file)) != EOF)
        lines += c == '\n';
    fclose(file);
    return lines;
}

/* Pieces of memory that can be had, up to `most`; they stay. */
static int pieces(int most)
{
    int got = 0;
    while (got < most &&
           mmap(NULL, MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        got++;
    return got;
}

/* Threads that can be had, up to 32, each with a stack of 1 MB. */
static int threads(void)
{
    pthread_t made[32];
    pthread_attr_t attributes;
    double seconds = 0.005;
    int count = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, MB);
    while (count < 32 && pthread_create(&made[count], &attributes, burns, &seconds) == 0)
        count++;
    for (int i = 0; i < count; i++)
        pthread_join(made[i], NULL);
    return count;
}

/* Much to record: short operations on a pipe, told one by one if that is asked for. */
static void many_operations(int count)
{
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0)
        return;
    for (int i = 0; i < count; i++)
        if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
            break;
    close(ends[0]);
    close(ends[1]);
}

static void address_space(void)
{
    struct rlimit limit = {400 * MB, 400 * MB};
    pid_t child = fork();
    if (child == 0) {
        int set = setrlimit(RLIMIT_AS, &limit);
        int of_threads = threads(), of_memory = pieces(200);
        many_operations(2000);
        _exit(set == 0 && of_threads == 32 && of_memory == 200 ? 11 : 12);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 11);
}

/* The limit comes from another process, while this one is at work; and there is little. */
static void little_more(void)
{
    int ready[2], go[2];
    char byte = 0;
    if (pipe(ready) != 0 || pipe(go) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        burn_cpu(0.02);
        if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
            _exit(12);
        int of_memory = pieces(60);
        many_operations(2000);
        burn_cpu(0.05);
        _exit(of_memory == 60 ? 11 : 13);
    }
    struct rlimit limit = {96 * MB, 96 * MB};
    CHECK_IS(read(ready[0], &byte, 1), 1);
    CHECK_IS(prlimit(child, RLIMIT_AS, &limit, NULL), 0);
    CHECK_IS(write(go[1], &byte, 1), 1);
    CHECK_IS(WEXITSTATUS(status_of(child)), 11);
}

/* Without the right to lock any amount: the limit that holds now, in bytes; 0 where that cannot be. */
static long may_not_lock(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || syscall(SYS_capget, &header, data) != 0)
        return 0;
    data[0].effective &= ~(1U << CAP_IPC_LOCK);
    data[0].permitted &= ~(1U << CAP_IPC_LOCK);
    limit.rlim_cur = limit.rlim_max = limit.rlim_max < (rlim_t)(64 * MB) ? limit.rlim_max : (rlim_t)(64 * MB);
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || syscall(SYS_capset, &header, data) != 0)
        return 0;
    return limit.rlim_cur >= (rlim_t)(8 * MB) ? (long)limit.rlim_cur : 0;
}

static void locked_memory(void)
{
    pid_t child = fork();
    if (child == 0) {
        if (may_not_lock() == 0)
            _exit(77);
        int now = mlockall(MCL_CURRENT);
        many_operations(1000);
        _exit(now == 0 ? 11 : 12);
    }
    int status = WEXITSTATUS(status_of(child));
    if (status == 77)
        NOT_HERE("no limit of locked memory can be set");
    CHECK_IS(status, 11);
}

/* All that is mapped from now on is locked: what the program does not map itself must not be. */
static void locked_future(void)
{
    enum { PIECE = 64 << 10, MOST = 1024, SLACK_KIB = 512 };
    pid_t child = fork();
    if (child == 0) {
        static char *got[MOST];
        int count = 0;
        long limit = may_not_lock();
        if (limit == 0)
            _exit(77);
        if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
            _exit(12);
        many_operations(10);
        long before = kib("VmLck");
        many_operations(20000);
        if (kib("VmLck") - before > SLACK_KIB)
            _exit(13);
        while (count < MOST && (got[count] = mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED)
            count++;
        if (count < MOST && count * (PIECE >> 10) < (limit >> 10) - before - SLACK_KIB)
            _exit(14);
        many_operations(20000);
        for (int i = 0; i < count && i < 16; i++)
            munmap(got[i], PIECE);
        double seconds = 0.05;
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 4 * PIECE);
        int refused = pthread_create(&thread, &attributes, burns, &seconds);
        if (refused == 0)
            pthread_join(thread, NULL);
        _exit(refused == 0 ? 11 : 15);
    }
    int status = WEXITSTATUS(status_of(child));
    if (status == 77)
        NOT_HERE("no limit of locked memory can be set");
    CHECK_IS(status, 11);
}

/* A stack that grows downwards lies at the upper end of a hole: nobody else may take the hole. */
static void growing_stack(void)
{
    enum { HOLE = 64 << 20, ROOM = 1 << 20 };
    char *hole = mmap(NULL, HOLE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(hole != MAP_FAILED);
    munmap(hole, HOLE);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED_NOREPLACE;
    char *stack = mmap(hole + HOLE - ROOM, ROOM, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (stack == MAP_FAILED)
        NOT_HERE("no mapping that grows");
    /* Who needs memory for a thread takes it now; the threads' stacks are there already. */
    enum { THREADS = 16, STACK = 64 << 10 };
    static char stacks[THREADS][STACK] __attribute__((aligned(4096)));
    double seconds = 0.02;
    pthread_t made[THREADS];
    int count = 0;
    for (; count < THREADS; count++) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stacks[count], STACK);
        if (pthread_create(&made[count], &attributes, burns, &seconds) != 0)
            break;
    }
    many_operations(30000);
    for (int i = 0; i < count; i++)
        pthread_join(made[i], NULL);
    unsigned long inside = 0, start, end;
    char line[512];
    FILE *file = fopen("/proc/self/maps", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%lx-%lx", &start, &end) == 2)
            inside += start < (unsigned long)stack && end > (unsigned long)hole;
    if (file != NULL)
        fclose(file);
    CHECK_IS(inside, 0);
    munmap(stack, ROOM);
}

static void barriers(void)
{
    long answer = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (answer < 0 || !(answer & MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        NOT_HERE("no barriers by system call");
    errno = 0;
    CHECK_IS(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0), -1);
    CHECK_IS(errno, EPERM);
    errno = 0;
    CHECK_IS(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 2, 0), -1);
    CHECK_IS(errno, EINVAL);
    CHECK_IS(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0), 0);
    CHECK_IS(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0), 0);
}

static int destroyed;

static void destroys(void *value)
{
    destroyed += value != NULL;
}

static void *uses(void *key)
{
    pthread_setspecific(*(pthread_key_t *)key, "value");
    burn_cpu(0.02);
    return NULL;
}

static void *leaves(void *key)
{
    uses(key);
    pthread_exit(NULL);
}

static void keys(void)
{
    static pthread_key_t all[PTHREAD_KEYS_MAX + 1];
    pthread_t thread;
    int made = 0;
    while (made <= PTHREAD_KEYS_MAX && pthread_key_create(&all[made], destroys) == 0)
        made++;
    CHECK(made >= PTHREAD_KEYS_MAX - 1 && made <= PTHREAD_KEYS_MAX);
    /* Threads go on and end in all ways. */
    void *(*ways[2])(void *) = {uses, leaves};
    for (int i = 0; i < 20; i++) {
        CHECK_IS(pthread_create(&thread, NULL, ways[i % 2], &all[i % made]), 0);
        pthread_join(thread, NULL);
    }
    CHECK_IS(destroyed, 20);
    for (int i = 0; i < made; i++)
        pthread_key_delete(all[i]);
}

/* Copies of a plugin, each loaded, at work for a while, and unloaded: nothing is left of them. */
static void many_plugins(void)
{
    enum { PLUGINS = 150 };
    static char image[1 << 20];
    char own[512], folder[600], name[] = "/tmp/hostile-plugin-XXXXXX";
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    char *slash = strrchr(own, '/');
    if (slash == NULL)
        NOT_HERE("no path of its own");
    snprintf(folder, sizeof folder, "%.*s/libplugin_a.so", (int)(slash - own), own);
    FILE *file = fopen(folder, "r");
    if (file == NULL)
        NOT_HERE("no plugin");
    size_t bytes = fread(image, 1, sizeof image, file);
    fclose(file);
    int before = 0, loaded = 0;
    for (int i = 0; i < PLUGINS; i++) {
        strcpy(name + strlen(name) - 6, "XXXXXX");
        int copy = mkstemp(name);
        if (copy < 0 || write(copy, image, bytes) != (ssize_t)bytes)
            NOT_HERE("no room for plugins");
        close(copy);
        void *plugin = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (plugin == NULL)
            break;
        uint64_t (*work)(uint64_t, uint64_t) =
            (uint64_t (*)(uint64_t, uint64_t))dlsym(plugin, "plugin_a_work");
        double end = process_cpu() + 0.02;
        while (process_cpu() < end)
            kept_result = work(kept_result + 1, 100000);
        dlclose(plugin);
        unlink(name);
        loaded++;
        if (i == 20)
            before = mappings();
    }
    CHECK_IS(loaded, PLUGINS);
    CHECK(mappings() - before < PLUGINS / 5);
}

/* Signals pending for this user, timers included, as the kernel counts them. */
static long pending(void)
{
    char line[256];
    long found = -1;
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL)
        return -1;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "SigQ:", 5) == 0)
            found = strtol(line + 5, NULL, 10);
    fclose(file);
    return found;
}

static volatile sig_atomic_t plain_signals;

static void count_plain(int signal)
{
    plain_signals += signal == SIGUSR1;
}

/* Timers until there are no more to be had. */
static int take_timers(timer_t *timers, int most)
{
    int got = 0;
    struct sigevent nothing = {.sigev_notify = SIGEV_NONE};
    while (got < most && timer_create(CLOCK_MONOTONIC, &nothing, &timers[got]) == 0)
        got++;
    return got;
}

/* All that may be pending is in use: what needs none of it goes on, and what is given back can be had
   again. */
static void pending_signals(void)
{
    enum { LEFT = 12, THREADS = 4 };
    struct rlimit limit;
    timer_t timers[LEFT + 1];
    pthread_t threads[THREADS];
    double seconds = 0.1;
    burn_cpu(0.1);
    long before = pending();
    CHECK_IS(getrlimit(RLIMIT_SIGPENDING, &limit), 0);
    limit.rlim_cur = (rlim_t)(before + LEFT);
    CHECK_IS(setrlimit(RLIMIT_SIGPENDING, &limit), 0);
    CHECK_IS(take_timers(timers, LEFT + 1), LEFT);
    CHECK_IS(errno, EAGAIN);

    sigset_t queued;
    sigemptyset(&queued);
    sigaddset(&queued, SIGRTMIN + 3);
    CHECK_IS(sigprocmask(SIG_BLOCK, &queued, NULL), 0);
    union sigval value = {.sival_int = 42};
    CHECK_IS(sigqueue(getpid(), SIGRTMIN + 3, value), -1);
    CHECK_IS(errno, EAGAIN);
    struct sigaction action = {.sa_handler = count_plain};
    CHECK_IS(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_IS(kill(getpid(), SIGUSR1), 0);
    CHECK_IS(plain_signals, 1);

    for (int i = 0; i < THREADS; i++)
        CHECK_IS(pthread_create(&threads[i], NULL, burns, &seconds), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_IS(pthread_join(threads[i], NULL), 0);
    burn_cpu(0.2);
    CHECK_IS(pending(), before + LEFT);

    CHECK_IS(timer_delete(timers[0]), 0);
    CHECK_IS(sigqueue(getpid(), SIGRTMIN + 3, value), 0);
    siginfo_t info;
    CHECK_IS(sigwaitinfo(&queued, &info), SIGRTMIN + 3);
    CHECK_IS(info.si_value.sival_int, 42);
    CHECK_IS(timer_create(CLOCK_MONOTONIC, NULL, &timers[0]), 0);
    for (int i = 0; i < LEFT; i++)
        CHECK_IS(timer_delete(timers[i]), 0);
    CHECK_IS(pending(), before);
}

static int gate, inside_gate;

static void *waits_at_gate(void *argument)
{
    __atomic_add_fetch(&inside_gate, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&gate, __ATOMIC_ACQUIRE) == 0)
        syscall(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return argument;
}

/* So many threads at once, all of which wait. */
static int live(int count)
{
    pthread_t *made = calloc(count, sizeof *made);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    double began = wall();
    int got = 0, error = 0;
    while (got < count && (error = pthread_create(&made[got], &attributes, waits_at_gate, NULL)) == 0)
        got++;
    while (__atomic_load_n(&inside_gate, __ATOMIC_RELAXED) < got)
        usleep(1000);
    /* The last ones have to get from there to the gate. */
    usleep(100000);
    double created = wall();
    long resident = kib("VmRSS");
    int mapped = mappings();
    double counted = wall();
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &gate, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    for (int i = 0; i < got; i++)
        pthread_join(made[i], NULL);
    printf("{\"threads\":%d,\"error\":%d,\"mappings\":%d,\"resident_kib\":%ld,\"create_s\":%.3f,"
           "\"end_s\":%.3f}\n",
           got, error, mapped, resident, created - began, wall() - counted);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct hostile_case cases[] = {
        CASE(address_space),   CASE(little_more), CASE(locked_memory), CASE(locked_future),
        CASE(growing_stack),   CASE(barriers),    CASE(keys),          CASE(many_plugins),
        CASE(pending_signals), {NULL, NULL}};
    if (argc == 3 && strcmp(argv[1], "live") == 0)
        return live(atoi(argv[2]));
    return run_cases(cases, argc, argv);
}

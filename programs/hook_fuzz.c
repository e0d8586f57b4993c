/*
 * Calls hooked functions with arguments that are mostly valid, and one that is not, and says what came of
 * each call. Run twice with the same numbers, alone and recorded, it has to say the same: tests/fuzz-hooks
 * compares.
 *
 * hook_fuzz PLAN FOLDER RESULTS SEED lines|digests NAME:FROM-TO[,FROM-TO…] …
 *
 * PLAN is the text of the collector's section `.proust.hooks`, FOLDER is empty, and calls FROM to TO of each
 * function NAME are made. `a+b+c` as a name is a sequence: in one process functions of these names, drawn by
 * chance, upon the same objects. RESULTS gets a line for each call, or, where the calls are many, a line for
 * each block of calls with a digest of each call's line.
 *
 * A block of CALLS_A_BLOCK calls begins at a multiple of it, in a process of its own, so that it can be
 * repeated alone. Before each call whose number is a multiple of CALLS_A_STATE the process makes its state
 * again; where a call has faulted, or the function uses the C library's streams, another process goes on. A
 * call that faults or blocks is left by a jump, and the next one finds what it has left. Where a call ends
 * the process, or aborts, the block goes on in another process with fresh state.
 */
#include "hook_fuzz/fuzz.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ERRNO_BEFORE = 77, CALLS_A_STATE = 40, CALLS_A_BLOCK = 400, LINE_BYTES = 600, OWN_FAULT = 98 };

static struct hook hooks[MOST_HOOKS];
static int hook_count;

/* What the calling process says to the one that watches it. */
static struct shared {
    volatile long call; /* the one that it is in */
    volatile int is_in; /* whether it is in it */
    volatile int lines;
    char line[CALLS_A_BLOCK][LINE_BYTES];
} *shared;

/* A number that neither the calls' arguments nor the digest of descriptors know. */
enum { RESULTS_AT = 200 };

static sigjmp_buf leave;
static volatile int caught;
static void *volatile caught_address;
static char alternate[65536];

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    if (!shared->is_in) {
        /* The call that was to come back has just done so. */
        if (signal == SIGALRM)
            return;
        static const char TEXT[] = "hook_fuzz: a fault of its own\n";
        (void)!write(2, TEXT, sizeof TEXT - 1);
        _exit(OWN_FAULT);
    }
    caught = signal;
    caught_address = info->si_addr;
    siglongjmp(leave, 1);
}

static const struct hook *hook_of(const char *name, size_t length)
{
    for (int i = 0; i < hook_count; i++)
        if (strlen(hooks[i].name) == length && strncmp(hooks[i].name, name, length) == 0)
            return &hooks[i];
    return NULL;
}

/* The function of call `call` of a name, which may be a sequence. */
static const struct hook *hook_for(const char *name, struct chance *chance)
{
    int parts = 1;
    for (const char *at = name; *at; at++)
        parts += *at == '+';
    uint64_t part = parts == 1 ? 0 : below(chance, (uint64_t)parts);
    const char *at = name;
    for (; part > 0; part--)
        at = strchr(at, '+') + 1;
    return hook_of(at, strcspn(at, "+"));
}

/* A result without what depends on chance: of addresses only whether there is one. */
static void show_result(const struct hook *hook, long result, char *text, size_t room)
{
    const char *type = hook->result;
    if (strcmp(type, "()") == 0 || strcmp(type, "Nothing") == 0 || type[0] == '!')
        snprintf(text, room, "returned");
    else if (type[0] == '*')
        snprintf(text, room, "%s", result ? "an address" : "null");
    else if (strcmp(type, "c_int") == 0 || strcmp(type, "pid_t") == 0 || strcmp(type, "c_uint") == 0)
        snprintf(text, room, "%d", (int)result);
    else
        snprintf(text, room, "%ld", result);
}

/* An address that nothing has is told by either of two signals, by how it is looked at first. */
static const char *shown_signal(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS ? "fault" : strsignal(signal);
}

/* Whether an argument is an object that may lie in several pages: which of its words is looked at first is
   not compared. */
static int is_large(const struct hook *hook)
{
    for (int i = 0; i < hook->count; i++)
        if (strcmp(hook->arguments[i].grammar, "stream") == 0 ||
            strcmp(hook->arguments[i].grammar, "folder") == 0)
            return 1;
    return 0;
}

/* What these write down is the file system's or chance's own. */
static int writes_anything(const char *name)
{
    return strcmp(name, "getdents64") == 0 || strcmp(name, "getrandom") == 0 ||
           strcmp(name, "getentropy") == 0 || strncmp(name, "readdir", 7) == 0;
}

/* Zeroes what of these bytes may be written. */
static void wipe(char *at, size_t bytes)
{
    for (char *end = at + bytes; at < end; at++)
        if ((at >= ARENA && at < ARENA + AT_NOTHING) || (at >= ARENA + AT_EDGE && at < ARENA + AT_END))
            *at = 0;
}

/* Wipes what a call has stored and chance decides: the number of a process, nanoseconds, and those bytes of
   an action's mask that the C library copies from its own stack. */
static void wipe_chance(const struct hook *hook, const long *values)
{
    for (int i = 0; i < hook->count; i++) {
        char *at = (char *)values[i];
        const struct argument *argument = &hook->arguments[i];
        if (strcmp(argument->grammar, "output") == 0 && strcmp(argument->of[0], "sigaction") == 0)
            wipe(at + 16, 120);
        if (strcmp(argument->grammar, "output") == 0 && strcmp(argument->of[0], "process") == 0)
            wipe(at, sizeof(pid_t));
        if (strcmp(argument->grammar, "output") == 0 && strcmp(argument->of[0], "siginfo") == 0)
            wipe(at + 16, sizeof(pid_t));
        if (strcmp(argument->grammar, "output") == 0 && strcmp(argument->of[0], "timespec") == 0) {
            /* Of the longest times the system stores what is left of its own longest. */
            wipe(at, 3);
            wipe(at + 8, 8);
        }
    }
}

typedef long (*function)(long, long, long, long, long, long, long, long, long, long, long, long);

/* Where HOOK_FUZZ_STACK is set calls are made on a stack of their own, which is small and painted: how much
 * of it a call takes is part of its line. */
enum { STACK_BYTES = 49152, PAINT = 0x5c };
static unsigned char small_stack[STACK_BYTES] __attribute__((aligned(64)));
static int is_measured;

/* Looked up once: a process's first calls find the next. */
static function function_of(const struct hook *hook)
{
    static function found[MOST_HOOKS];
    function *at = &found[hook - hooks];
    if (*at == NULL)
        *at = (function)dlsym(RTLD_DEFAULT, hook->name);
    return *at;
}

struct call {
    function real;
    long *v, result;
    int error;
};

static void make_call(struct call *one)
{
    long *v = one->v;
    errno = ERRNO_BEFORE;
    one->result = one->real(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11]);
    one->error = errno;
}

static __attribute__((noinline)) void on_small_stack(struct call *one)
{
    void *top = small_stack + STACK_BYTES;
    memset(small_stack, PAINT, STACK_BYTES);
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %[top], %%rsp\n\tcall *%[made]\n\tmov %%rbx, %%rsp"
                     : "+D"(one), [top] "+r"(top)
                     : [made] "r"((void (*)(struct call *))make_call)
                     : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static size_t stack_taken(void)
{
    size_t untouched = 0;
    while (untouched < STACK_BYTES && small_stack[untouched] == PAINT)
        untouched++;
    return STACK_BYTES - untouched;
}

static void one_call(const char *name, uint64_t seed, long call)
{
    struct chance chance = {hash_of(name, strlen(name), seed * 1000003 + (uint64_t)call)};
    const struct hook *hook = hook_for(name, &chance);
    char *line = shared->line[shared->lines];
    long v[MOST_ARGUMENTS];
    char arguments[300], text[64];
    function real = hook ? function_of(hook) : NULL;
    if (real == NULL) {
        snprintf(line, LINE_BYTES, "%s#%ld is not there: ", name, call);
        shared->lines++;
        return;
    }
    make_arguments(hook, &chance, v, arguments, sizeof arguments);
    int used = snprintf(line, LINE_BYTES, "%s#%ld %s(%s): ", name, call, hook->name, arguments);
    caught = 0;
    shared->call = call;
    if (sigsetjmp(leave, 1) == 0) {
        shared->is_in = 1;
        struct call one = {real, v, 0, 0};
        if (is_measured)
            on_small_stack(&one);
        else
            make_call(&one);
        shared->is_in = 0;
        show_result(hook, one.result, text, sizeof text);
        used += snprintf(line + used, (size_t)(LINE_BYTES - used), "%s, errno %d", text, one.error);
    } else {
        shared->is_in = 0;
        if (caught == SIGALRM)
            used += snprintf(line + used, (size_t)(LINE_BYTES - used), "blocked");
        else
            used += snprintf(line + used, (size_t)(LINE_BYTES - used), "%s at %s", shown_signal(caught),
                             is_large(hook) ? "its object"
                                            : shown_fault((void *)caught_address, text, sizeof text));
    }
    wipe_chance(hook, v);
    snprintf(line + used, (size_t)(LINE_BYTES - used), ", memory %08x, descriptors %08x, signals %08x",
             writes_anything(hook->name) ? 0 : (unsigned)digest_of_memory(),
             (unsigned)digest_of_descriptors(), (unsigned)digest_of_signals());
    used = (int)strlen(line);
    if (is_measured)
        snprintf(line + used, (size_t)(LINE_BYTES - used), ", stack %zu", stack_taken());
    shared->lines++;
}

/* Whether a process can go on with fresh state: what streams and folders consist of is the C library's own,
   and so are its lists of them. */
static int can_be_refreshed(const char *name)
{
    const struct hook *hook = strchr(name, '+') ? NULL : hook_of(name, strlen(name));
    return hook && !is_large(hook) && strstr(name, "close") == NULL;
}

/* Signals and limits as they are before the first call. */
static void fresh_handlers(void)
{
    static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){64 << 20, 64 << 20});
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++)
        sigaction(FAULTS[i], &action, NULL);
}

static void calls(const char *name, uint64_t seed, long from, long to)
{
    sigset_t mask;
    int has_faulted = 0;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    fresh_state();
    fresh_handlers();
    for (long call = from; call < to; call++) {
        if (call > from && call % CALLS_A_STATE == 0) {
            if (has_faulted || !can_be_refreshed(name))
                break;
            sigprocmask(SIG_SETMASK, &mask, NULL);
            leave_state();
            fresh_state();
            fresh_handlers();
        }
        one_call(name, seed, call);
        has_faulted = has_faulted || (caught && caught != SIGALRM);
        /* What has aborted may hold any lock of the C library's. */
        if (caught == SIGABRT)
            break;
    }
    _exit(0);
}

/* Whether the process neither runs nor is ready to, and how long it has run, in clock ticks. `file` is its
   `/proc/PID/stat`. */
static int sleeps(int file, long *ticks)
{
    char text[512], state = 'R', *at;
    long user = 0, kernel = 0;
    ssize_t length = file < 0 ? 0 : pread(file, text, sizeof text - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = 0;
    if ((at = strrchr(text, ')')) != NULL)
        sscanf(at + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &state, &user, &kernel);
    *ticks = user + kernel;
    return state == 'S';
}

/* Functions whose work another process does. */
static int waits_for_others(const char *name)
{
    return strstr(name, "system") || strstr(name, "spawn") || strstr(name, "popen") ||
           strstr(name, "pclose") || strstr(name, "exec");
}

/* How often a process that is in a call is looked at, and how many looks in a row find it asleep before the
   call counts as blocked. */
enum { LOOK_US = 200, PATIENCE = 3, MOST_PATIENCE = 2000, MOST_TICKS = 30, MOST_ALARMS = 3 };

/* Reaps a process some time after its end: the kernel spins in that call as long as another process is at one
   of the process's files in /proc, which on a busy machine may wait for a processor. */
static void reap_later(pid_t process)
{
    enum { LATER = 32 };
    static pid_t ended[LATER];
    static int count;
    pid_t *at = &ended[count++ % LATER];
    if (*at > 0)
        waitpid(*at, NULL, 0);
    *at = process;
}

/* Whether the process has ended, and how. */
static int has_ended(pid_t process, siginfo_t *end)
{
    end->si_pid = 0;
    return waitid(P_PID, (id_t)process, end, WEXITED | WNOHANG | WNOWAIT) != 0 || end->si_pid == process;
}

/* Waits for the end; a call that sleeps, or runs on and on, is told to come back. A process that sleeps where
   it makes no call waits for a lock that a call has left taken: it is ended. */
static siginfo_t watched(pid_t process, const char *name)
{
    siginfo_t end;
    int looks = 0, patience = waits_for_others(name) ? MOST_PATIENCE : PATIENCE, alarms = 0;
    int last_lines = -1, was_in = 0;
    long ticks = 0, begin_ticks = -1;
    struct pollfd ends = {(int)syscall(SYS_pidfd_open, process, 0), POLLIN, 0};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    int stat = open(path, O_RDONLY | O_CLOEXEC);
    while (!has_ended(process, &end)) {
        struct timespec a_look = {0, LOOK_US * 1000};
        ppoll(&ends, ends.fd >= 0, &a_look, NULL);
        if (shared->lines != last_lines || shared->is_in != was_in) {
            last_lines = shared->lines;
            was_in = shared->is_in;
            looks = 0;
            begin_ticks = -1;
            alarms = 0;
            continue;
        }
        looks = sleeps(stat, &ticks) ? looks + 1 : 0;
        if (begin_ticks < 0)
            begin_ticks = ticks;
        if (looks > (was_in ? patience : MOST_PATIENCE) || ticks > begin_ticks + MOST_TICKS) {
            kill(process, was_in && alarms++ < MOST_ALARMS ? SIGALRM : SIGKILL);
            looks = 0;
            begin_ticks = ticks;
        }
    }
    if (ends.fd >= 0)
        close(ends.fd);
    if (stat >= 0)
        close(stat);
    reap_later(process);
    return end;
}

/* Nothing that a call does may outlast it: no large files, no privileges. */
static void give_up_privileges(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    if (syscall(SYS_capset, &header, none) != 0 || signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
        exit(2);
}

/* Makes one block; what came of its calls is in the shared lines, one for each. */
static void block(const char *name, uint64_t seed, long from, long to)
{
    shared->lines = 0;
    for (int tries = 0; from + shared->lines < to;) {
        int made = shared->lines;
        shared->is_in = 0;
        shared->call = -1;
        pid_t process = fork();
        if (process == 0)
            calls(name, seed, from + made, to);
        siginfo_t end = watched(process, name);
        if (!shared->is_in) {
            /* Done, or aborted, or it failed behind a call because of that call, which has said what it had
               to. */
            if (shared->lines > made || tries++ == 0)
                continue;
        }
        tries = 0;
        /* It did not come back from the call: that is what came of it. */
        char *line = shared->line[shared->lines];
        int used = shared->is_in
                       ? (int)strlen(line)
                       : snprintf(line, LINE_BYTES, "%s#%ld cannot begin: ", name, from + shared->lines);
        snprintf(line + used, (size_t)(LINE_BYTES - used), "%s %d",
                 end.si_code == CLD_EXITED ? "ended with" : "ended by signal", end.si_status);
        shared->lines++;
    }
}

static void write_block(FILE *results, const char *name, long from, int is_brief)
{
    if (is_brief)
        fprintf(results, "%s:%ld", name, from);
    for (int line = 0; line < shared->lines; line++)
        if (is_brief)
            fprintf(results, " %08x", (unsigned)hash_of(shared->line[line], strlen(shared->line[line]), 0));
        else
            fprintf(results, "%s\n", shared->line[line]);
    if (is_brief)
        fputc('\n', results);
    fflush(results);
}

int main(int argc, char **argv)
{
    if (argc < 7)
        return 2;
    hook_count = read_plan(argv[1], hooks, MOST_HOOKS);
    int file = open(argv[3], O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (hook_count <= 0 || file < 0 || dup2(file, RESULTS_AT) < 0 || close(file) != 0 || chdir(argv[2]) != 0)
        return 2;
    FILE *results = fdopen(RESULTS_AT, "a");
    give_up_privileges();
    is_measured = getenv("HOOK_FUZZ_STACK") != NULL;
    uint64_t seed = strtoull(argv[4], NULL, 10);
    int is_brief = strcmp(argv[5], "digests") == 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (results == NULL || shared == MAP_FAILED)
        return 2;
    /* Looks come when they are due. */
    prctl(PR_SET_TIMERSLACK, 1);
    prepare_state();
    for (int i = 6; i < argc; i++) {
        char *ranges = strrchr(argv[i], ':');
        if (ranges == NULL)
            return 2;
        *ranges++ = 0;
        for (char *range = strtok(ranges, ","); range; range = strtok(NULL, ",")) {
            long from, to;
            if (sscanf(range, "%ld-%ld", &from, &to) != 2)
                return 2;
            while (from < to) {
                long end = (from / CALLS_A_BLOCK + 1) * CALLS_A_BLOCK;
                end = end < to ? end : to;
                block(argv[i], seed, from, end);
                write_block(results, argv[i], from, is_brief);
                from = end;
            }
        }
    }
    return 0;
}

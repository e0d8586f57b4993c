/*
 * Makes code at run time: copies of one function's bytes, whose CPU time is 1:3, and writes their names where
 * perf's formats want them.
 * made_code [SECONDS] [FORM] [FOLDER of the jitdump]
 *   map      a perf map
 *   reused   a perf map in which each function has a predecessor at its address
 *   forked   a perf map; what is named is executed by a forked child, which writes none
 *   none     nothing
 *   dump     a jitdump
 *   moved    a jitdump; after half of the time the first function moves, and a third one takes its place
 */
#include "truth.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* In a section of its own, whose bounds the linker knows. It refers to nothing else, so its bytes work
   anywhere. */
__attribute__((section("copied_code"), noinline, used)) static uint64_t burn(uint64_t x, uint64_t steps)
{
    BURN(x, steps);
    return x;
}

extern const char __start_copied_code[], __stop_copied_code[];

typedef uint64_t Function(uint64_t x, uint64_t steps);

static size_t code_bytes(void) { return (size_t)(__stop_copied_code - __start_copied_code); }

static char *pages(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return memory;
}

static void make(char *at)
{
    memcpy(at, __start_copied_code, code_bytes());
    __builtin___clear_cache(at, at + code_bytes());
}

static Function *entry(char *at)
{
    return (Function *)(uintptr_t)(at + ((const char *)burn - __start_copied_code));
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static FILE *opened(const char *path)
{
    FILE *file = fopen(path, "w+");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

static void put(FILE *file, const void *bytes, size_t count)
{
    if (fwrite(bytes, 1, count, file) != count) {
        perror("jitdump");
        exit(1);
    }
}

static void put_head(FILE *file, uint32_t id, size_t body_bytes)
{
    struct {
        uint32_t id, bytes;
        uint64_t time_ns;
    } head = {id, (uint32_t)(16 + body_bytes), now_ns()};
    put(file, &head, sizeof head);
}

static void put_load(FILE *file, const char *at, uint64_t number, const char *name)
{
    uint64_t address = (uint64_t)(uintptr_t)at, bytes = code_bytes();
    struct {
        uint32_t pid, tid;
        uint64_t vma, address, bytes, number;
    } body = {(uint32_t)getpid(), (uint32_t)thread_id(), address, address, bytes, number};
    put_head(file, 0, sizeof body + strlen(name) + 1 + bytes);
    put(file, &body, sizeof body);
    put(file, name, strlen(name) + 1);
    put(file, at, bytes);
    fflush(file);
}

static void put_move(FILE *file, const char *from, const char *to, uint64_t number)
{
    struct {
        uint32_t pid, tid;
        uint64_t vma, from, to, bytes, number;
    } body = {(uint32_t)getpid(), (uint32_t)thread_id(), (uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from,
              (uint64_t)(uintptr_t)to, code_bytes(), number};
    put_head(file, 1, sizeof body);
    put(file, &body, sizeof body);
    fflush(file);
}

/* The file, with the mapping by which profilers find it. */
static FILE *dump_opened(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/jit-%d.dump", folder, (int)getpid());
    FILE *file = opened(path);
    struct {
        uint32_t magic, version, bytes, machine, spare, pid;
        uint64_t time_ns, flags;
    } header = {0x4A695444, 1, 40, 62, 0, (uint32_t)getpid(), now_ns(), 0};
    put(file, &header, sizeof header);
    fflush(file);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) == MAP_FAILED) {
        perror("the mapping of the jitdump");
        exit(1);
    }
    return file;
}

static void write_map(char *once, char *thrice, int reused)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *file = opened(path);
    if (reused) {
        fprintf(file, "%lx %zx gone_before\n", (unsigned long)(uintptr_t)thrice, code_bytes());
        fprintf(file, "%lx %zx gone_before too\n", (unsigned long)(uintptr_t)once - 16, code_bytes());
    }
    fprintf(file, "%lx %zx made_once\n", (unsigned long)(uintptr_t)once, code_bytes());
    fprintf(file, "%lx %zx made thrice, with blanks\n", (unsigned long)(uintptr_t)thrice, code_bytes());
    fclose(file);
}

struct Times {
    double once, thrice, late;
};

KEPT static uint64_t work(Function *first, Function *second, uint64_t x, double seconds, double *of_first,
                          double *of_second)
{
    uint64_t state = 88172645463325252u;
    double now = thread_cpu(), end = now + seconds;
    while (now < end) {
        uint64_t steps = uneven(&state, 4 * UNIT);
        x = first(x, steps);
        double between = thread_cpu();
        x = second(x, 3 * steps);
        double after = thread_cpu();
        *of_first += between - now;
        *of_second += after - between;
        now = after;
    }
    return x;
}

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 1.0), began = wall();
    const char *form = argc > 2 ? argv[2] : "map", *folder = argc > 3 ? argv[3] : "/tmp";
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = pages(3 * page), *once = memory, *thrice = memory + page, *moved = memory + 2 * page;
    make(once);
    make(thrice);
    make(moved);
    if (mprotect(memory, 3 * page, PROT_READ | PROT_EXEC) != 0) {
        perror("mprotect");
        return 1;
    }
    FILE *dump = NULL;
    pid_t writer = getpid();
    if (strcmp(form, "map") == 0 || strcmp(form, "reused") == 0 || strcmp(form, "forked") == 0) {
        write_map(once, thrice, strcmp(form, "reused") == 0);
    } else if (strcmp(form, "none") != 0) {
        dump = dump_opened(folder);
        put_load(dump, once, 1, "made_once");
        put_load(dump, thrice, 2, "made thrice, with blanks");
    }
    if (strcmp(form, "forked") == 0) {
        pid_t child = fork();
        if (child != 0) {
            int status = 1;
            return child > 0 && waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 1;
        }
    }
    struct Times cpu = {0, 0, 0};
    uint64_t x = 1;
    if (strcmp(form, "moved") == 0) {
        x = work(entry(once), entry(thrice), x, seconds / 2, &cpu.once, &cpu.thrice);
        put_move(dump, once, moved, 1);
        put_load(dump, once, 3, "made_late");
        double late = 0;
        x = work(entry(moved), entry(once), x, seconds / 2, &cpu.once, &late);
        cpu.late = late;
    } else {
        x = work(entry(once), entry(thrice), x, seconds, &cpu.once, &cpu.thrice);
    }
    if (dump != NULL) {
        put_head(dump, 3, 0);
        fclose(dump);
    }
    kept_result = x;
    printf("{\"program\":\"made_code\",\"pid\":%d,\"functions\":{\"made_once\":%.6f,"
           "\"made thrice, with blanks\":%.6f,\"made_late\":%.6f},\"cpu_s\":%.6f,\"wall_s\":%.6f}\n",
           (int)writer, cpu.once, cpu.thrice, cpu.late, process_cpu(), wall() - began);
    return 0;
}

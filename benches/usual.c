/*
 * Which functions of the collector's library ran in a program: each gets a breakpoint, which is taken back
 * where it is met.
 * usual FUNCTIONS LIBRARY RUN COMMAND…
 *
 * FUNCTIONS holds lines of an address in the library and a name, sorted by address; COMMAND is run with
 * LIBRARY preloaded and PROUST_RUN=RUN. Prints the names of those that ran. x86_64; children are not
 * followed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/reg.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 20000 };

static struct function {
    unsigned long address;
    char *name;
    unsigned char before;
    char ran;
} functions[MOST];
static int count;
/* Where the library begins and ends in the process. */
static unsigned long base, end;

static void read_functions(const char *path)
{
    FILE *file = fopen(path, "r");
    char name[4096];
    unsigned long address;
    if (!file) {
        perror(path);
        exit(2);
    }
    while (count < MOST && fscanf(file, "%lx %4095s", &address, name) == 2)
        if (count == 0 || functions[count - 1].address != address)
            functions[count++] = (struct function){.address = address, .name = strdup(name)};
    fclose(file);
}

/* Finds the library; false if the dynamic linker has not mapped all of it yet. */
static int find(pid_t process, const char *library)
{
    char path[64], line[4096], *behind;
    int mappings = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, library)) {
            unsigned long begin = strtoul(line, &behind, 16);
            base = mappings++ == 0 ? begin : base;
            end = strtoul(behind + 1, NULL, 16);
        }
    if (maps)
        fclose(maps);
    return mappings >= 4;
}

static int memory_of(pid_t process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", process);
    return open(path, O_RDWR);
}

static void set_breakpoints(pid_t process)
{
    const unsigned char breakpoint = 0xcc;
    int memory = memory_of(process);
    for (int i = 0; i < count; i++) {
        off_t at = (off_t)(base + functions[i].address);
        if (pread(memory, &functions[i].before, 1, at) != 1 || pwrite(memory, &breakpoint, 1, at) != 1)
            perror(functions[i].name);
    }
    close(memory);
}

static int by_address(const void *one, const void *other)
{
    unsigned long a = ((const struct function *)one)->address, b = ((const struct function *)other)->address;
    return (a > b) - (a < b);
}

/* Whether the thread stands behind one of ours, which then is taken back. */
static int takes_back(pid_t thread)
{
    struct user_regs_struct registers;
    ptrace(PTRACE_GETREGS, thread, NULL, &registers);
    struct function wanted = {.address = registers.rip - 1 - base};
    struct function *found = bsearch(&wanted, functions, (size_t)count, sizeof wanted, by_address);
    if (!found)
        return 0;
    found->ran = 1;
    int memory = memory_of(thread);
    if (pwrite(memory, &found->before, 1, (off_t)(base + found->address)) != 1)
        perror(found->name);
    close(memory);
    registers.rip--;
    ptrace(PTRACE_SETREGS, thread, NULL, &registers);
    return 1;
}

/* Which signal the thread goes on with. */
static int meets(pid_t thread, int status, const char *library)
{
    int stop = WSTOPSIG(status);
    if (stop == (SIGTRAP | 0x80)) {
        struct user_regs_struct registers;
        ptrace(PTRACE_GETREGS, thread, NULL, &registers);
        /* The dynamic linker is done with the library when it has made its tables read-only. */
        if (base == 0 && registers.orig_rax == SYS_mprotect && registers.rax == 0) {
            if (find(thread, library) && registers.rdi >= base && registers.rdi < end)
                set_breakpoints(thread);
            else
                base = 0;
        }
        return 0;
    }
    if (status >> 16 != 0 || stop == SIGSTOP || (stop == SIGTRAP && base != 0 && takes_back(thread)))
        return 0;
    return stop;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    read_functions(argv[1]);
    pid_t process = fork();
    if (process == 0) {
        setenv("PROUST_RUN", argv[3], 1);
        setenv("LD_PRELOAD", argv[2], 1);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execvp(argv[4], argv + 4);
        _exit(127);
    }
    int status;
    waitpid(process, &status, 0);
    long options = PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;
    ptrace(PTRACE_SETOPTIONS, process, NULL, options);
    ptrace(PTRACE_CONT, process, NULL, NULL);
    waitpid(process, &status, 0);
    ptrace(PTRACE_SYSCALL, process, NULL, NULL);
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) >= 0;) {
        if (WIFSTOPPED(status)) {
            long signal = meets(thread, status, argv[2]);
            ptrace(base != 0 ? PTRACE_CONT : PTRACE_SYSCALL, thread, NULL, signal);
        } else if (thread == process) {
            break;
        }
    }
    for (int i = 0; i < count; i++)
        if (functions[i].ran)
            puts(functions[i].name);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

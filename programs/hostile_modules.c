/*
 * Code from files that are not what they seem, and what is done before the program's own first instruction.
 * hostile_modules CASE
 *
 *   truncated   runs code of an ELF file that is shorter than its program headers say
 *   hole        computes under a frame whose return address lies in a hole between the segments of a library
 *   early       works in a library that another library's constructor opened, closes it, and opens another
 *               one in its place;
 *               started with libearly.so preloaded
 *   replaced    puts a handler of its own on SIGURG by a system call of its own
 */
#define _GNU_SOURCE
#include "hostile.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

typedef uint64_t work_function(uint64_t x, uint64_t steps);

/* Counts its first argument down; no unwind tables, no frame pointer. */
static const unsigned char countdown[] = {0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3};

static void truncated(void)
{
    /* So much unwind information is not copied but mapped. */
    enum { PAGE = 4096, MISSING = 64 * PAGE };
    static unsigned char file[2 * PAGE];
    Elf64_Ehdr *header = (Elf64_Ehdr *)file;
    memcpy(header->e_ident, ELFMAG, SELFMAG);
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_VERSION] = EV_CURRENT;
    header->e_type = ET_DYN;
    header->e_machine = EM_X86_64;
    header->e_version = EV_CURRENT;
    header->e_phoff = sizeof *header;
    header->e_ehsize = sizeof *header;
    header->e_phentsize = sizeof(Elf64_Phdr);
    header->e_phnum = 3;
    Elf64_Phdr *part = (Elf64_Phdr *)(file + sizeof *header);
    part[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                           .p_flags = PF_R | PF_X,
                           .p_filesz = 2 * PAGE,
                           .p_memsz = 2 * PAGE,
                           .p_align = PAGE};
    /* Behind the file's end. */
    part[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                           .p_flags = PF_R,
                           .p_offset = 2 * PAGE,
                           .p_vaddr = 2 * PAGE,
                           .p_paddr = 2 * PAGE,
                           .p_filesz = MISSING,
                           .p_memsz = MISSING,
                           .p_align = PAGE};
    part[2] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
                           .p_flags = PF_R,
                           .p_offset = 2 * PAGE,
                           .p_vaddr = 2 * PAGE,
                           .p_paddr = 2 * PAGE,
                           .p_filesz = PAGE,
                           .p_memsz = PAGE,
                           .p_align = 4};
    memcpy(file + PAGE, countdown, sizeof countdown);
    int descriptor = open("hostile_modules.tmp", O_RDWR | O_CREAT | O_TRUNC, 0755);
    if (descriptor < 0 || write(descriptor, file, sizeof file) != (ssize_t)sizeof file)
        NOT_HERE("a file in this folder");
    /* Where nothing else lies that the file could claim. */
    void *place = mmap(NULL, sizeof file + MISSING, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *code =
        mmap(place, sizeof file, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, descriptor, 0);
    close(descriptor);
    if (place == MAP_FAILED || code == MAP_FAILED)
        NOT_HERE("executable mappings of files in this folder");
    double until = thread_cpu() + 0.3;
    while (thread_cpu() < until)
        CHECK_IS(((long (*)(long))(code + PAGE))(20000000), 0);
    munmap(place, sizeof file + MISSING);
    unlink("hostile_modules.tmp");
}

/* Counts down under a frame pointer that is given; no unwind tables. */
__asm__(".text\n.globl count_under\n.type count_under,@function\ncount_under:\n"
        "push %rbp\nmov %rsi,%rbp\n1: dec %rdi\njnz 1b\npop %rbp\nret\n"
        ".size count_under,.-count_under\n");
void count_under(long times, void *frame);

/* The first hole of a library that lies in memory from its first segment to its last. */
static unsigned long hole_of(const char *library)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4400];
    unsigned long from, to, found = 0;
    while (maps != NULL && found == 0 && fgets(line, sizeof line, maps) != NULL) {
        char access[8];
        if (strstr(line, library) != NULL && sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 &&
            strcmp(access, "---p") == 0)
            found = from;
    }
    if (maps != NULL)
        fclose(maps);
    return found;
}

int with_hole(void);

static void hole(void)
{
    CHECK_IS(with_hole(), 7);
    unsigned long inside = hole_of("libwith_hole.so");
    if (inside == 0)
        NOT_HERE("a library with a hole");
    /* On the thread's own stack, above its stack pointer: the next frame pointer, and where the frame returns
       to. */
    volatile unsigned long frame[2] = {0, inside + 64};
    double until = thread_cpu() + 0.3;
    while (thread_cpu() < until)
        count_under(20000000, (void *)frame);
    CHECK_IS(frame[1], inside + 64);
}

static double works(void *library, const char *name, double seconds)
{
    work_function *work = library == NULL ? NULL : (work_function *)dlsym(library, name);
    double begin = thread_cpu();
    CHECK(work != NULL);
    while (work != NULL && thread_cpu() < begin + seconds)
        kept_result = work(kept_result, 50 * UNIT);
    return thread_cpu() - begin;
}

static void early(void)
{
    void **opened = (void **)dlsym(RTLD_DEFAULT, "opened_early");
    if (opened == NULL || *opened == NULL)
        NOT_HERE("libearly.so, preloaded");
    double a = works(*opened, "plugin_a_work", 0.3);
    void *before = dlsym(*opened, "plugin_a_work");
    CHECK_IS(dlclose(*opened), 0);
    void *second = dlopen("libplugin_b.so", RTLD_NOW | RTLD_LOCAL);
    double b = works(second, "plugin_b_work", 0.3);
    printf("{\"churn_a\":%.6f,\"churn_b\":%.6f,\"same_page\":%d}\n", a, b,
           second != NULL && (uintptr_t)dlsym(second, "plugin_b_work") / 65536 == (uintptr_t)before / 65536);
}

static volatile long taken;
static void takes(int signal)
{
    (void)signal;
    taken++;
}

struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

static void replaced(void)
{
    struct kernel_action old, now;
    struct sigaction any;
    /* With the C library's own way back from a handler. */
    memset(&any, 0, sizeof any);
    any.sa_handler = takes;
    sigaction(SIGUSR1, &any, NULL);
    CHECK_IS(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &old, sizeof old.mask), 0);
    now = (struct kernel_action){takes, old.flags, old.restorer, 0};
    CHECK_IS(syscall(SYS_rt_sigaction, SIGURG, &now, NULL, sizeof now.mask), 0);
    burn_cpu(0.3);
    raise(SIGURG);
    CHECK(taken > 0);
    CHECK_IS(syscall(SYS_rt_sigaction, SIGURG, NULL, &old, sizeof old.mask), 0);
    CHECK(old.handler == takes);
}

static const struct hostile_case cases[] = {
    CASE(truncated), CASE(hole), CASE(early), CASE(replaced), {NULL, NULL},
};

int main(int argc, char **argv) { return run_cases(cases, argc, argv); }

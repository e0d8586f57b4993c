/*
 * What each call finds: memory at known addresses, descriptors with known numbers, streams, files in the
 * working folder; and digests of all that a call may change. Signals and descriptors are read as the
 * program sees them.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

char *const ARENA = (char *)0x600000000000;
FILE *streams[STREAMS];
void *folder;
unsigned long ended_thread;

enum { FIRST_OPEN = 10, LAST_LOOKED_AT = 40, LAST_OPEN = 257, HIGHEST_OPEN = 4096, FILE_BYTES = 8192 };

static const int LOOKED_AT[] = {SIGUSR1, SIGUSR2, SIGURG, SIGPROF, SIGCHLD, SIGTERM, SIGPIPE};
static char content[FILE_BYTES];

void prepare_state(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (mmap(ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0) != ARENA)
        exit(2);
    for (int i = 0; i < FILE_BYTES; i++)
        content[i] = i % 50 == 49 ? '\n' : (char)('a' + i % 23);
}

static void to_number(int file, int number)
{
    if (file != number) {
        dup2(file, number);
        close(file);
    }
}

static void write_file(const char *name)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, content, FILE_BYTES) != FILE_BYTES)
        exit(2);
    close(file);
}

/* System calls by themselves: what is hooked must not be what is looked with. */
static long raw(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static void *say_number(void *number)
{
    *(volatile long *)number = raw(SYS_gettid, 0, 0, 0);
    return NULL;
}

/* Makes a thread that ends and is not joined. No signal of the process may come to it: its handler would jump
   to where the other thread is. */
static void end_a_thread(void)
{
    static volatile long number;
    sigset_t all, before;
    pthread_t thread;
    number = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, say_number, (void *)&number) != 0)
        exit(2);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    while (number == 0 || raw(SYS_tgkill, raw(SYS_getpid, 0, 0, 0), number, 0) == 0)
        raw(SYS_sched_yield, 0, 0, 0);
    ended_thread = (unsigned long)thread;
}

/* What they lead to is the fuzzer's own. */
static void standard_streams_to_nothing(void)
{
    int null = open("/dev/null", O_RDWR);
    for (int standard = 0; standard <= 2; standard++)
        dup2(null, standard);
    if (null > 2)
        close(null);
}

/* So that a process can begin with fresh state once more: nothing that its calls have opened, and the usual
   actions. */
void leave_state(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    standard_streams_to_nothing();
    for (int i = 3; i < LAST_OPEN; i++)
        close(i);
    close(HIGHEST_OPEN);
    for (size_t i = 0; i < sizeof LOOKED_AT / sizeof *LOOKED_AT; i++)
        sigaction(LOOKED_AT[i], &usual, NULL);
    mprotect(ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE);
}

/* In a new process, or in one whose state has been left. */
void fresh_state(void)
{
    int ends[2];
    own_thread = (uint64_t)syscall(SYS_gettid);
    memset(ARENA, 0x5a, AT_NOTHING);
    memset(ARENA + AT_CONSTANT, 0x5a, 2 * PAGE);
    for (int i = 0; i < 4 * PAGE; i++)
        ARENA[AT_BUFFER + i] = (char)('A' + i % 26);
    mprotect(ARENA + AT_NOTHING, PAGE, PROT_NONE);
    mprotect(ARENA + AT_CONSTANT, PAGE, PROT_READ);
    mprotect(ARENA + AT_END, PAGE, PROT_NONE);
    write_file("data");
    write_file("more");
    write_file("stream");
    to_number(open("data", O_RDWR), FIRST_OPEN);
    if (pipe2(ends, O_NONBLOCK) != 0 || write(ends[1], content, 100) != 100)
        exit(2);
    to_number(ends[0], FIRST_OPEN + 1);
    to_number(ends[1], FIRST_OPEN + 2);
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends) != 0 || write(ends[1], content, 60) != 60)
        exit(2);
    to_number(ends[0], FIRST_OPEN + 3);
    to_number(ends[1], FIRST_OPEN + 4);
    to_number(open(".", O_RDONLY | O_DIRECTORY), FIRST_OPEN + 5);
    to_number(open("/dev/null", O_RDWR), FIRST_OPEN + 6);
    to_number(epoll_create1(0), FIRST_OPEN + 7);
    to_number(eventfd(1, EFD_NONBLOCK), FIRST_OPEN + 8);
    to_number(open("more", O_RDONLY), FIRST_OPEN + 9);
    streams[0] = fopen("stream", "r+");
    streams[1] = fopen("written", "w+");
    streams[2] = fopen("/dev/full", "w");
    streams[3] = fopen("stream", "r");
    streams[4] = fopen("unbuffered", "w+");
    setvbuf(streams[4], NULL, _IONBF, 0);
    (void)!fgetc(streams[3]);
    folder = opendir(".");
    end_a_thread();
    standard_streams_to_nothing();
}

/* Keeps each page as it was read last, and its digest: few pages change in a call. */
uint64_t digest_of_memory(void)
{
    static char last[AT_END / PAGE][PAGE];
    static uint64_t of_page[AT_END / PAGE];
    static int is_known[AT_END / PAGE];
    uint64_t digest = 0;
    for (int page = 0; page < AT_END / PAGE; page++) {
        const char *at = ARENA + page * PAGE;
        if (page * PAGE == AT_NOTHING || page * PAGE == AT_CONSTANT)
            continue;
        if (!is_known[page] || memcmp(last[page], at, PAGE) != 0) {
            memcpy(last[page], at, PAGE);
            of_page[page] = hash_of_words(at, PAGE / 8, 0);
            is_known[page] = 1;
        }
        digest = hash_of(&of_page[page], sizeof of_page[page], digest);
    }
    return digest;
}

uint64_t digest_of_descriptors(void)
{
    long seen[LAST_LOOKED_AT][3];
    struct pollfd numbers[LAST_LOOKED_AT];
    for (int i = 0; i < LAST_LOOKED_AT; i++)
        numbers[i] = (struct pollfd){i, 0, 0};
    /* Which of them are open, in one call. */
    int is_asked = raw(SYS_poll, (long)numbers, LAST_LOOKED_AT, 0) >= 0;
    for (int i = 0; i < LAST_LOOKED_AT; i++) {
        int is_closed = is_asked && numbers[i].revents & POLLNVAL;
        seen[i][0] = is_closed ? -EBADF : raw(SYS_fcntl, i, F_GETFD, 0);
        int is_looked_at = i != 1 && seen[i][0] >= 0;
        seen[i][1] = is_looked_at ? raw(SYS_fcntl, i, F_GETFL, 0) : 0;
        seen[i][2] = is_looked_at ? raw(SYS_lseek, i, 0, SEEK_CUR) : 0;
    }
    return hash_of_words(seen, sizeof seen / sizeof(long), 0);
}

uint64_t digest_of_signals(void)
{
    uint64_t digest = 0;
    int error = errno;
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    digest = hash_of(&mask, 8, digest);
    for (size_t i = 0; i < sizeof LOOKED_AT / sizeof *LOOKED_AT; i++) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        sigaction(LOOKED_AT[i], NULL, &action);
        digest = hash_of(&action.sa_handler, sizeof action.sa_handler, digest);
        digest = hash_of(&action.sa_mask, 8, digest);
    }
    errno = error;
    return digest;
}

/* To the page: the collector may look at another word of an object that cannot be used than the C library
   does first. */
const char *shown_fault(const void *address, char *text, size_t length)
{
    const char *at = address;
    if (at >= ARENA && at < ARENA + ARENA_BYTES)
        snprintf(text, length, "page %ld", (long)(at - ARENA) / PAGE);
    else
        snprintf(text, length, "an address that nothing has");
    return text;
}

const char *shown_address(const void *address, char *text, size_t length)
{
    const char *at = address;
    if (at == NULL || (uintptr_t)at < 65536)
        snprintf(text, length, "%#lx", (unsigned long)at);
    else if (at >= ARENA && at < ARENA + ARENA_BYTES)
        snprintf(text, length, "arena+%#lx", (unsigned long)(at - ARENA));
    else
        snprintf(text, length, "elsewhere");
    return text;
}

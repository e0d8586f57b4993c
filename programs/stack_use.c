/*
 * How much of a small stack calls of the C library use: each is made twice on painted memory, and the
 * lowest byte that changed is looked for. Alone and under a measurement the same calls are made, so that
 * the difference is the measurement's.
 * stack_use BYTES KIND: the stack has BYTES (8192 or more) and is a thread's, an alternate one or a fiber's
 * (thread, alternate, fiber).
 *
 * Prints for each call the bytes used below the caller's stack pointer, first and second time, and whether
 * memory beyond the stack is untouched.
 */
#include "truth.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <threads.h>
#include <ucontext.h>

enum { CANARY_BYTES = 65536, MOST_BYTES = 65536, PAINT = 0x5c, OWN_BYTES = 192 };

static unsigned char *block, *stack;
static size_t stack_bytes;

static struct timespec moment = {0, 60000};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static int pipes[2], sockets[2], epoll, file = -1;
static FILE *stream;
static DIR *folder;
static char bytes[64];
static const char *path = "stack_use.tmp";
static volatile pid_t child;

static struct timespec soon(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_nsec += 60000;
    if (now.tv_nsec >= 1000000000) {
        now.tv_nsec -= 1000000000;
        now.tv_sec++;
    }
    return now;
}

static void nothing(void) {}
static void *nothing_in_thread(void *argument) { return argument; }
static void handler(int number) { (void)number; }

/* Holds the mutex for a moment, so that somebody else has to wait. */
static atomic_int holding;
static void *holds(void *unused)
{
    pthread_mutex_lock(&mutex);
    holding = 1;
    struct timespec some = {0, 2000000};
    nanosleep(&some, NULL);
    pthread_mutex_unlock(&mutex);
    return unused;
}

#define CALL(name, ...) KEPT static void do_##name(void) { __VA_ARGS__; }
CALL(lock, pthread_mutex_lock(&mutex))
CALL(unlock, pthread_mutex_unlock(&mutex))
CALL(trylock, pthread_mutex_trylock(&mutex); pthread_mutex_trylock(&mutex); pthread_mutex_unlock(&mutex))
CALL(timedlock, struct timespec at = soon(); pthread_mutex_lock(&mutex); pthread_mutex_timedlock(&mutex, &at);
     pthread_mutex_unlock(&mutex))
CALL(rdlock, pthread_rwlock_rdlock(&readers); pthread_rwlock_unlock(&readers))
CALL(wrlock, pthread_rwlock_wrlock(&readers); struct timespec at = soon();
     pthread_rwlock_timedrdlock(&readers, &at); pthread_rwlock_unlock(&readers))
CALL(spin, pthread_spin_lock(&spin); pthread_spin_unlock(&spin))
CALL(condition, struct timespec at = soon(); pthread_mutex_lock(&mutex);
     pthread_cond_timedwait(&condition, &mutex, &at); pthread_mutex_unlock(&mutex))
CALL(signal_condition, pthread_cond_signal(&condition); pthread_cond_broadcast(&condition))
CALL(semaphore, sem_post(&semaphore); sem_wait(&semaphore); struct timespec at = soon();
     sem_timedwait(&semaphore, &at))
CALL(barrier, pthread_barrier_wait(&barrier))
CALL(once, pthread_once(&once, nothing))
CALL(nanosleep, nanosleep(&moment, NULL))
CALL(usleep, usleep(60))
CALL(yield, sched_yield())
CALL(poll, struct pollfd one = {pipes[0], POLLIN, 0}; poll(&one, 1, 1))
CALL(select, fd_set set; FD_ZERO(&set); FD_SET(pipes[0], &set); struct timeval at = {0, 60};
     select(pipes[0] + 1, &set, NULL, NULL, &at))
CALL(epoll, struct epoll_event one; epoll_wait(epoll, &one, 1, 1))
CALL(waitpid, int status; waitpid(-1, &status, WNOHANG))
CALL(fork, child = fork(); if (child == 0) _exit(0))
CALL(reap, int status; waitpid(child, &status, 0))
CALL(spawn, char *arguments[] = {"true", NULL}; pid_t one = 0;
     posix_spawn(&one, "/bin/true", NULL, NULL, arguments, environ); child = one)
CALL(sigaction, struct sigaction now = {.sa_handler = handler}; sigaction(SIGUSR2, &now, NULL);
     sigaction(SIGUSR2, NULL, &now))
CALL(signal, signal(SIGUSR2, SIG_IGN))
CALL(sigmask, sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR2);
     pthread_sigmask(SIG_BLOCK, &set, NULL); sigprocmask(SIG_UNBLOCK, &set, NULL))
CALL(sigtimedwait, sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR2);
     sigtimedwait(&set, NULL, &moment))
CALL(write, if (write(pipes[1], bytes, 8) != 8) abort())
CALL(read, if (read(pipes[0], bytes, 8) != 8) abort())
CALL(open, file = open(path, O_RDWR | O_CREAT, 0644))
CALL(pwrite, if (pwrite(file, bytes, 64, 0) != 64) abort())
CALL(pread, if (pread(file, bytes, 64, 0) != 64) abort())
CALL(fsync, fdatasync(file))
CALL(flock, flock(file, LOCK_EX); flock(file, LOCK_UN))
CALL(close, close(file))
CALL(send, if (send(sockets[0], bytes, 8, 0) != 8) abort())
CALL(receive, if (recv(sockets[1], bytes, 8, 0) != 8) abort())
CALL(random, if (getrandom(bytes, 8, 0) != 8) abort())
CALL(fopen, stream = fopen(path, "r+"))
CALL(fread, if (fread(bytes, 1, 8, stream) != 8) abort())
CALL(fgetc, fgetc(stream))
CALL(fwrite, fseek(stream, 0, SEEK_SET); fwrite(bytes, 1, 8, stream); fputc('a', stream); fputs("b", stream))
CALL(fflush, fflush(stream))
CALL(fclose, fclose(stream))
CALL(opendir, folder = opendir("."))
CALL(readdir, readdir(folder))
CALL(closedir, closedir(folder))
CALL(unlink, unlink(path))
CALL(futex, int word = 0; syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &moment, NULL, 0);
     syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0))
CALL(exec_nothing, char *arguments[] = {"none", NULL}; execve("/no/such/program", arguments, environ))
CALL(exec_in_vain, char *arguments[] = {"none", NULL}; execve("/dev/null/none", arguments, environ);
     execvp("./stack_use.none", arguments))
static pthread_t thread;
CALL(create, if (pthread_create(&thread, NULL, nothing_in_thread, NULL) != 0) abort())
CALL(join, pthread_join(thread, NULL))
static thrd_t c_thread;
static int nothing_in_c_thread(void *unused) { (void)unused; return 0; }
CALL(create_c, if (thrd_create(&c_thread, nothing_in_c_thread, NULL) != 0) abort())
CALL(join_c, thrd_join(c_thread, NULL))
CALL(hold, holding = 0; pthread_create(&thread, NULL, holds, NULL); while (!holding) sched_yield())
CALL(raise, raise(SIGUSR1))

#define ONE(name) {#name, do_##name}
static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {
    ONE(lock),      ONE(unlock),       ONE(trylock),
    ONE(timedlock), ONE(rdlock),       ONE(wrlock),
    ONE(spin),      ONE(condition),    ONE(signal_condition),
    ONE(semaphore), ONE(barrier),      ONE(once),
    ONE(nanosleep), ONE(usleep),       ONE(yield),
    ONE(poll),      ONE(select),       ONE(epoll),
    ONE(waitpid),   ONE(fork),         ONE(reap),
    ONE(spawn),     ONE(reap),         ONE(sigaction),
    ONE(signal),    ONE(sigmask),      ONE(sigtimedwait),
    ONE(write),     ONE(read),         ONE(open),
    ONE(pwrite),    ONE(pread),        ONE(fsync),
    ONE(flock),     ONE(close),        ONE(send),
    ONE(receive),   ONE(random),       ONE(fopen),
    ONE(fread),     ONE(fgetc),        ONE(fwrite),
    ONE(fflush),    ONE(fclose),       ONE(opendir),
    ONE(readdir),   ONE(closedir),     ONE(unlink),
    ONE(futex),     ONE(exec_nothing), ONE(exec_in_vain),
    ONE(create),    ONE(join),         ONE(create_c),
    ONE(join_c),    ONE(hold),         ONE(lock),
    ONE(unlock),    ONE(join),         ONE(raise),
};
enum { CALLS = sizeof calls / sizeof *calls };
static size_t used[CALLS][2];

KEPT static void paint(unsigned char *from, unsigned char *to)
{
    for (volatile unsigned char *at = from; at < to; at++)
        *at = PAINT;
}

KEPT static size_t used_below(const unsigned char *low, const unsigned char *sp)
{
    while (low < sp && *low == PAINT)
        low++;
    return (size_t)(sp - low);
}

/* Runs on the small stack. What this function's own callees need is not painted. */
KEPT static void make_calls(void)
{
    unsigned char *sp = __builtin_frame_address(0);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < CALLS; i++) {
            paint(stack, sp - OWN_BYTES);
            calls[i].call();
            used[i][round] = used_below(stack, sp);
        }
}

static void *in_thread(void *unused)
{
    make_calls();
    return unused;
}

static void in_handler(int number)
{
    (void)number;
    make_calls();
}

static void prepare(void)
{
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, 1);
    sem_init(&semaphore, 0, 0);
    epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    if (pipe(pipes) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || epoll < 0
        || epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &event) != 0)
        abort();
    FILE *none = fopen("stack_use.none", "w");
    if (none != NULL)
        fclose(none);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
}

int main(int argc, char **argv)
{
    stack_bytes = argc > 1 ? (size_t)atol(argv[1]) : 16384;
    const char *kind = argc > 2 ? argv[2] : "fiber";
    if (stack_bytes > MOST_BYTES)
        return 2;
    block =
        mmap(NULL, 2 * CANARY_BYTES + MOST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack = block + CANARY_BYTES;
    paint(block, block + 2 * CANARY_BYTES + stack_bytes);
    prepare();
    if (strcmp(kind, "thread") == 0) {
        pthread_attr_t attributes;
        pthread_t small;
        pthread_attr_init(&attributes);
        if (pthread_attr_setstack(&attributes, stack, stack_bytes) != 0 ||
            pthread_create(&small, &attributes, in_thread, NULL) != 0)
            return 2;
        pthread_join(small, NULL);
    } else if (strcmp(kind, "alternate") == 0) {
        stack_t alternate = {.ss_sp = stack, .ss_size = stack_bytes};
        struct sigaction action = {.sa_handler = in_handler, .sa_flags = SA_ONSTACK};
        sigaltstack(&alternate, NULL);
        sigaction(SIGWINCH, &action, NULL);
        raise(SIGWINCH);
    } else {
        static ucontext_t home, fiber;
        getcontext(&fiber);
        fiber.uc_stack.ss_sp = stack;
        fiber.uc_stack.ss_size = stack_bytes;
        fiber.uc_link = &home;
        makecontext(&fiber, make_calls, 0);
        swapcontext(&home, &fiber);
    }
    unlink("stack_use.none");
    size_t overwritten = 0;
    for (int i = 0; i < CANARY_BYTES; i++)
        overwritten += (block[i] != PAINT) + (stack[stack_bytes + (size_t)i] != PAINT);
    printf("{\"program\":\"stack_use\",\"overwritten_bytes\":%zu,\"calls\":[", overwritten);
    for (int i = 0; i < CALLS; i++)
        printf("%s{\"call\":\"%s\",\"first\":%zu,\"second\":%zu}", i > 0 ? "," : "", calls[i].name,
               used[i][0], used[i][1]);
    printf("]}\n");
    return 0;
}

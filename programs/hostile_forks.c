/*
 * Forks in uncomfortable places: on little stack, from several threads at once, while another thread
 * replaces the image in vain. What lies below each stack is painted; children and their parent look whether
 * it is untouched, and which signals are blocked.
 * hostile_forks [CASE …]
 */
#define _GNU_SOURCE
#include "hostile.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>

enum { CANARY_BYTES = 65536, MOST_BYTES = 32768, PAINT = 0x5c };
enum { RIGHT = 0, OVERWRITTEN = 2, WRONG_MASK = 3 };

static unsigned char block[2 * CANARY_BYTES + MOST_BYTES] __attribute__((aligned(4096)));
static unsigned char *const stack = block + CANARY_BYTES;

static int status_of(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, __WALL) < 0 && errno == EINTR)
        ;
    return status;
}

static int is_painted(const unsigned char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (from[i] != PAINT)
            return 0;
    return 1;
}

static int canaries_live(size_t bytes)
{
    return is_painted(block, CANARY_BYTES) && is_painted(stack + bytes, CANARY_BYTES);
}

static uint64_t mask_now(void)
{
    uint64_t mask = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    return mask;
}

static size_t stack_bytes;
static int child_status, mask_kept;

/* Forks here. */
static void fork_on_this_stack(void)
{
    uint64_t before = mask_now();
    pid_t child = fork();
    if (child == 0) {
        int is = mask_now() == before ? RIGHT : WRONG_MASK;
        _exit(canaries_live(stack_bytes) ? is : OVERWRITTEN);
    }
    mask_kept = mask_now() == before;
    child_status = status_of(child);
}

static void check(void)
{
    if (WIFSIGNALED(child_status))
        printf("%s: WRONG: a child on %zu bytes is ended by signal %d\n", case_now, stack_bytes,
               WTERMSIG(child_status)), wrong++;
    else
        CHECK_IS(WEXITSTATUS(child_status), RIGHT);
    CHECK(mask_kept);
    CHECK(canaries_live(stack_bytes));
}

static void prepare(size_t bytes)
{
    stack_bytes = bytes;
    child_status = mask_kept = -1;
    memset(block, PAINT, sizeof block);
}

static void *forks_in_thread(void *nothing)
{
    fork_on_this_stack();
    return nothing;
}

static void in_thread(size_t bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    prepare(bytes);
    pthread_attr_init(&attributes);
    CHECK_IS(pthread_attr_setstack(&attributes, stack, bytes), 0);
    CHECK_IS(pthread_create(&thread, &attributes, forks_in_thread, NULL), 0);
    pthread_join(thread, NULL);
    check();
}

static void little_thread(void)
{
    in_thread(16384);
    in_thread(32768);
}

static void forks_in_handler(int signal)
{
    (void)signal;
    fork_on_this_stack();
}

static void alternate_stack(void)
{
    struct sigaction action = {.sa_handler = forks_in_handler, .sa_flags = SA_ONSTACK}, old;
    for (size_t bytes = 8192; bytes <= 32768; bytes *= 2) {
        prepare(bytes);
        stack_t alternate = {.ss_sp = stack, .ss_size = bytes}, none = {.ss_flags = SS_DISABLE};
        sigaltstack(&alternate, NULL);
        sigaction(SIGUSR1, &action, &old);
        raise(SIGUSR1);
        sigaction(SIGUSR1, &old, NULL);
        sigaltstack(&none, NULL);
        check();
    }
}

static ucontext_t home, fiber;

static void in_fiber(void)
{
    for (size_t bytes = 8192; bytes <= 32768; bytes *= 2) {
        prepare(bytes);
        getcontext(&fiber);
        fiber.uc_stack.ss_sp = stack;
        fiber.uc_stack.ss_size = bytes;
        fiber.uc_link = &home;
        makecontext(&fiber, fork_on_this_stack, 0);
        swapcontext(&home, &fiber);
        check();
    }
}

static int in_clone(void *before)
{
    struct timespec moment = {0, 1000};
    nanosleep(&moment, NULL);
    nanosleep(&moment, NULL);
    int is = mask_now() == *(uint64_t *)before ? RIGHT : WRONG_MASK;
    _exit(canaries_live(stack_bytes) ? is : OVERWRITTEN);
}

static void little_clone(void)
{
    for (size_t bytes = 8192; bytes <= 32768; bytes *= 2) {
        prepare(bytes);
        uint64_t before = mask_now();
        child_status = status_of(clone(in_clone, stack + bytes, SIGCHLD, &before));
        mask_kept = mask_now() == before;
        check();
    }
}

static atomic_int wrong_masks, stop;

/* Forks for a while, under a mask of its own. */
static void *forks_under(void *number)
{
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGRTMIN + 1 + (int)(intptr_t)number);
    pthread_sigmask(SIG_SETMASK, &mine, NULL);
    uint64_t before = mask_now();
    double until = wall() + 0.7;
    while (wall() < until) {
        pid_t child = fork();
        if (child == 0)
            _exit(mask_now() == before ? RIGHT : WRONG_MASK);
        if (mask_now() != before) {
            wrong_masks++;
            pthread_sigmask(SIG_SETMASK, &mine, NULL);
        }
        int status = status_of(child);
        if (status != 0)
            wrong_masks++;
    }
    return NULL;
}

static void forks_at_once(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, forks_under, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_IS(wrong_masks, 0);
}

static const char *no_program = "hostile_forks.tmp";

static void *execs_in_vain(void *nothing)
{
    char *const arguments[] = {"none", NULL};
    while (!stop)
        execve(no_program, arguments, (char *[]){NULL});
    return nothing;
}

/* The file may be executed, and is no program. */
static void exec_in_vain_beside(void)
{
    pthread_t threads[2];
    int file = open(no_program, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    if (file < 0 || write(file, "\1\2\3\4", 4) != 4)
        NOT_HERE("a file in this folder");
    close(file);
    pthread_create(&threads[0], NULL, execs_in_vain, NULL);
    pthread_create(&threads[1], NULL, forks_under, NULL);
    pthread_join(threads[1], NULL);
    stop = 1;
    pthread_join(threads[0], NULL);
    unlink(no_program);
    CHECK_IS(wrong_masks, 0);
}

static atomic_int sharer_ended;
static int turns = 200000;

/* A task that shares everything with its maker, also its thread-local storage: it must not use what is kept
   there. */
static int shares_storage(void *nothing)
{
    (void)nothing;
    for (int i = 0; i < turns; i++) {
        char byte;
        if (read(-1, &byte, 1) != -1)
            break;
    }
    sharer_ended = 1;
    syscall(SYS_exit, 0);
    return 0;
}

static void shared_storage(void)
{
    static char its_stack[262144] __attribute__((aligned(16)));
    sharer_ended = 0;
    pid_t child = clone(shares_storage, its_stack + sizeof its_stack,
                        CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
    CHECK(child > 0);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    long done = 0;
    while (!sharer_ended) {
        struct timespec moment = {0, 2000};
        nanosleep(&moment, NULL);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        done++;
    }
    CHECK(done > 0);
    CHECK_IS(status_of(child), 0);
}

static const struct hostile_case cases[] = {
    CASE(little_thread), CASE(alternate_stack),     CASE(in_fiber),       CASE(little_clone),
    CASE(forks_at_once), CASE(exec_in_vain_beside), CASE(shared_storage), {NULL, NULL},
};

int main(int argc, char **argv) { return run_cases(cases, argc, argv); }

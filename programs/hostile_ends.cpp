/*
 * Ends that are no returns, most of them in a child process each: uncaught exceptions, terminate,
 * cancellation, stack overflow with and without a handler, ends from threads while others run or wait,
 * exceptions thrown out of signal handlers.
 * hostile_ends [CASE …]
 */
extern "C" {
#include "hostile.h"
}

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define NOINLINE __attribute__((noinline))

namespace {

/* How a child ends that does this: an exit code, or 1000 more than the signal. */
template <typename Do> long child_that(Do what)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        freopen("/dev/null", "w", stderr);
        burn_cpu(0.02);
        what();
        _exit(99);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        ;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

void *burns_for_ever(void *)
{
    for (;;)
        burn_cpu(1.0);
}

pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

void *waits_for_ever(void *)
{
    pthread_mutex_lock(&held);
    return nullptr;
}

void some_company()
{
    pthread_t thread;
    pthread_mutex_lock(&held);
    pthread_create(&thread, nullptr, burns_for_ever, nullptr);
    pthread_create(&thread, nullptr, waits_for_ever, nullptr);
    pthread_create(&thread, nullptr, waits_for_ever, nullptr);
    burn_cpu(0.02);
}

template <void (*Ends)()> void *in_a_thread(void *)
{
    burn_cpu(0.02);
    Ends();
    return nullptr;
}

template <void (*Ends)()> void from_a_thread()
{
    pthread_t thread;
    some_company();
    pthread_create(&thread, nullptr, in_a_thread<Ends>, nullptr);
    pthread_join(thread, nullptr);
}

void exits() { exit(41); }
void exits_at_once() { _exit(42); }
void exits_quickly() { quick_exit(43); }
void aborts() { abort(); }
int *volatile nowhere;
void faults() { *nowhere = 1; }
void throws() { throw std::runtime_error("uncaught"); }
void terminates() { std::terminate(); }
void kills_itself() { kill(getpid(), SIGKILL); }

void ends_with_others_around()
{
    CHECK_IS(child_that([] { some_company(); exits(); }), 41);
    CHECK_IS(child_that([] { some_company(); exits_at_once(); }), 42);
    CHECK_IS(child_that([] { some_company(); exits_quickly(); }), 43);
    CHECK_IS(child_that(from_a_thread<exits>), 41);
    CHECK_IS(child_that(from_a_thread<exits_at_once>), 42);
    CHECK_IS(child_that(from_a_thread<exits_quickly>), 43);
    CHECK_IS(child_that(from_a_thread<aborts>), 1000 + SIGABRT);
    CHECK_IS(child_that(from_a_thread<faults>), 1000 + SIGSEGV);
    CHECK_IS(child_that(from_a_thread<throws>), 1000 + SIGABRT);
    CHECK_IS(child_that(from_a_thread<terminates>), 1000 + SIGABRT);
    CHECK_IS(child_that(from_a_thread<kills_itself>), 1000 + SIGKILL);
}

void uncaught()
{
    CHECK_IS(child_that([] { throws(); }), 1000 + SIGABRT);
    CHECK_IS(child_that([] { terminates(); }), 1000 + SIGABRT);
    CHECK_IS(child_that([] { std::set_terminate([] { _exit(51); }); throws(); }), 51);
    CHECK_IS(child_that([]() noexcept { throws(); }), 1000 + SIGABRT);
    CHECK_IS(child_that([] { signal(SIGABRT, [](int) { _exit(52); }); abort(); }), 52);
}

NOINLINE long too_deep(long level)
{
    volatile char room[4096];
    room[level % 4096] = 1;
    return too_deep(level + 1) + room[0];
}

sigjmp_buf back;
char alternate[65536];

void handles_overflow(void (*handler)(int))
{
    stack_t stack = {};
    stack.ss_sp = alternate;
    stack.ss_size = sizeof alternate;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
}

void *overflows(void *)
{
    return reinterpret_cast<void *>(too_deep(0));
}

void stack_overflow()
{
    CHECK_IS(child_that([] { too_deep(0); }), 1000 + SIGSEGV);
    CHECK_IS(child_that([] {
        pthread_t thread;
        pthread_create(&thread, nullptr, overflows, nullptr);
        pthread_join(thread, nullptr);
    }), 1000 + SIGSEGV);
    CHECK_IS(child_that([] { handles_overflow([](int) { burn_cpu(0.02); _exit(53); }); too_deep(0); }), 53);
    CHECK_IS(child_that([] {
        handles_overflow([](int) { siglongjmp(back, 1); });
        volatile int times = 0;
        sigsetjmp(back, 1);
        burn_cpu(0.005);
        if (++times <= 10)
            too_deep(0);
        _exit(50 + times);
    }), 61);
    /* Room for a signal handler is gone just before the end of the stack is. */
    CHECK_IS(child_that([] {
        rlimit little = {256 << 10, RLIM_INFINITY};
        setrlimit(RLIMIT_STACK, &little);
        too_deep(0);
    }), 1000 + SIGSEGV);
}

struct Guard {
    int *count;
    ~Guard() { ++*count; }
};

int unwound;

void *cancelled(void *)
{
    Guard guard{&unwound};
    for (;;) {
        burn_cpu(0.002);
        pthread_testcancel();
    }
}

void *cancelled_in_a_wait(void *)
{
    Guard guard{&unwound};
    for (;;) {
        timespec for_long = {100, 0};
        nanosleep(&for_long, nullptr);
    }
}

void *cancelled_anywhere(void *)
{
    int before;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    uint64_t x = 1;
    for (;;)
        BURN(x, 50 * UNIT);
}

void cancellation()
{
    int cancelled_threads = 0;
    void *(*routines[])(void *) = {cancelled, cancelled_in_a_wait, cancelled_anywhere};
    for (auto routine : routines)
        for (int i = 0; i < 10; i++) {
            pthread_t thread;
            void *result;
            pthread_create(&thread, nullptr, routine, nullptr);
            burn_cpu(0.003);
            pthread_cancel(thread);
            pthread_join(thread, &result);
            cancelled_threads += result == PTHREAD_CANCELED;
        }
    CHECK_IS(cancelled_threads, 30);
    CHECK_IS(unwound, 20);
}

struct Interrupted {
    int signal;
};

/* By a pointer: of `raise` itself the compiler knows that it throws nothing. */
int (*volatile raises)(int) = raise;

void throws_out(int number) { throw Interrupted{number}; }

/* Compiled with -fnon-call-exceptions: a fault may throw. */
void thrown_out_of_handlers()
{
    int numbers[] = {SIGUSR1, SIGURG, SIGSEGV};
    for (int number : numbers) {
        struct sigaction action = {};
        action.sa_handler = throws_out;
        action.sa_flags = SA_NODEFER;
        sigaction(number, &action, nullptr);
        volatile int caught = 0;
        for (volatile int i = 0; i < 100; i++) {
            try {
                if (number == SIGSEGV)
                    *nowhere = i;
                else
                    raises(number);
            } catch (const Interrupted &interrupted) {
                caught = caught + (interrupted.signal == number);
            }
            burn_cpu(0.0003);
        }
        CHECK_IS(caught, 100);
        signal(number, SIG_DFL);
    }
}

} // namespace

int main(int argc, char **argv)
{
    static const hostile_case cases[] = {CASE(ends_with_others_around), CASE(uncaught),
                                         CASE(stack_overflow),          CASE(cancellation),
                                         CASE(thrown_out_of_handlers),  {nullptr, nullptr}};
    return run_cases(cases, argc, argv);
}

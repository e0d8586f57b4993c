/*
 * Split stacks (-fsplit-stack): the stack is a list of pieces from the heap, and a deep call goes on in
 * another one.
 * hostile_split
 */
#include "hostile.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static __attribute__((noinline)) long deep(long level)
{
    volatile char room[1000];
    uint64_t x = 1;
    room[level % 1000] = 1;
    if (level % 100 == 0)
        BURN(x, 20 * UNIT);
    kept_result += x;
    return level == 0 ? room[0] : deep(level - 1) + room[level % 1000];
}

static void *goes_deep(void *argument)
{
    (void)argument;
    long sum = 0;
    for (int i = 0; i < 20; i++)
        sum += deep(2000);
    return (void *)sum;
}

static void pieces(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, goes_deep, NULL);
    for (int i = 0; i < 2; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        CHECK_IS(sum, 20 * 2001);
    }
    CHECK_IS(goes_deep(NULL), 20 * 2001);
}

/* What a handler saw: the thread's alternate stack, and whether it ran on that. */
static __thread stack_t in_handler;
static __thread const char *handler_place;

/* On the stack that the kernel chose, and not on another piece. */
static __attribute__((no_split_stack)) void look(int number)
{
    char here;
    (void)number;
    handler_place = &here;
    sigaltstack(NULL, &in_handler);
}

static int is_in(const void *place, const stack_t *stack)
{
    const char *start = stack->ss_sp, *at = place;
    return at >= start && at < start + stack->ss_size;
}

static void raise_for(int flags)
{
    struct sigaction action = {.sa_handler = look, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
    handler_place = NULL;
    raise(SIGUSR1);
    /* The compiler believes that this calls nothing here. */
    __asm__ volatile("" ::: "memory");
}

/* One that has none of its own. */
static void check_without(void)
{
    stack_t seen = {.ss_flags = 77};
    CHECK_IS(sigaltstack(NULL, &seen), 0);
    CHECK_IS(seen.ss_flags, SS_DISABLE);
    CHECK_IS(seen.ss_sp, 0);
    CHECK_IS(seen.ss_size, 0);
    raise_for(0);
    CHECK(handler_place != NULL);
    CHECK_IS(in_handler.ss_flags, SS_DISABLE);
    raise_for(SA_ONSTACK);
    CHECK(handler_place != NULL);
    CHECK_IS(in_handler.ss_flags, SS_DISABLE);
    CHECK_IS(in_handler.ss_size, 0);
}

static void *checks_alternate(void *argument)
{
    (void)argument;
    goes_deep(NULL);
    check_without();
    stack_t own = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17}, seen;
    CHECK_IS(sigaltstack(&own, &seen), 0);
    CHECK_IS(seen.ss_flags, SS_DISABLE);
    CHECK_IS(seen.ss_sp, 0);
    goes_deep(NULL);
    CHECK_IS(sigaltstack(NULL, &seen), 0);
    CHECK(seen.ss_sp == own.ss_sp);
    CHECK_IS(seen.ss_size, 1 << 17);
    CHECK_IS(seen.ss_flags, 0);
    raise_for(0);
    CHECK(!is_in(handler_place, &own));
    CHECK_IS(in_handler.ss_flags, 0);
    raise_for(SA_ONSTACK);
    CHECK(is_in(handler_place, &own));
    CHECK_IS(in_handler.ss_flags, SS_ONSTACK);
    CHECK(in_handler.ss_sp == own.ss_sp);
    stack_t none = {.ss_flags = SS_DISABLE};
    CHECK_IS(sigaltstack(&none, &seen), 0);
    CHECK(seen.ss_sp == own.ss_sp);
    free(own.ss_sp);
    goes_deep(NULL);
    check_without();
    return NULL;
}

static void alternate(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, checks_alternate, NULL);
    pthread_join(thread, NULL);
    checks_alternate(NULL);
}

int main(int argc, char **argv)
{
    static const struct hostile_case cases[] = {CASE(pieces), CASE(alternate), {NULL, NULL}};
    return run_cases(cases, argc, argv);
}

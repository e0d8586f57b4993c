/* Masks of threads and of handlers. */
#include "cases.h"

void blocked(void)
{
    sigset_t all, before, now, pending;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    CHECK(sigisemptyset(&before));
    burn_cpu(0.1);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    int kept = 0;
    for (int number = 1; number < 32; number++)
        kept += sigismember(&now, number);
    CHECK_IS(kept, 29);
    sigpending(&pending);
    CHECK(sigisemptyset(&pending));
    handle(SIGURG, count, 0);
    raise(SIGURG);
    burn_cpu(0.02);
    CHECK_IS(hits[SIGURG], 0);
    sigpending(&pending);
    CHECK_IS(sigismember(&pending, SIGURG), 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    burn_cpu(0.02);
    CHECK_IS(hits[SIGURG], 1);
    CHECK_IS(foreign, 0);
}

static volatile int blocked_inside;

static int standard_signals_in(const sigset_t *set)
{
    int count = 0;
    for (int number = 1; number < 32; number++)
        count += sigismember(set, number) == 1;
    return count;
}

static void under_a_full_mask(int number)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    blocked_inside = standard_signals_in(&now) == 29;
    /* Saved and put back, as functions do that block for a while. */
    pthread_sigmask(SIG_SETMASK, &now, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    blocked_inside &= standard_signals_in(&now) == 29;
    raise(SIGUSR2);
    burn_cpu(0.03);
    blocked_inside &= hits[SIGUSR2] == 0;
    hits[number]++;
}

void mask_of_a_handler(void)
{
    struct sigaction action = {.sa_handler = under_a_full_mask}, now;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    handle(SIGUSR2, count, 0);
    sigaction(SIGUSR1, NULL, &now);
    int kept = 0;
    for (int number = 1; number < 32; number++)
        kept += sigismember(&now.sa_mask, number) == 1;
    CHECK_IS(kept, 29);
    raise(SIGUSR1);
    CHECK_IS(blocked_inside, 1);
    CHECK_IS(hits[SIGUSR2], 1);
    sigset_t after;
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    CHECK(sigisemptyset(&after));
    /* A handler set in another way has a mask of its own. */
    signal(SIGUSR1, count_plainly);
    sigaction(SIGUSR1, NULL, &now);
    CHECK_IS(sigismember(&now.sa_mask, SIGUSR2), 0);
}

static volatile int inside_before, inside_after;

static void not_to_be_interrupted(int number)
{
    (void)number;
    inside_before = hits[SIGURG];
    raise(SIGURG);
    burn_cpu(0.03);
    inside_after = hits[SIGURG];
}

/* A handler keeps others out whenever they are set. */
void masks_of_handlers_set_before(void)
{
    struct sigaction action = {.sa_handler = not_to_be_interrupted};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    burn_cpu(0.02);
    handle(SIGURG, count, 0);
    burn_cpu(0.02);
    raise(SIGUSR1);
    CHECK_IS(inside_after - inside_before, 0);
    CHECK_IS(hits[SIGURG], 1);
    CHECK_IS(foreign, 0);
}

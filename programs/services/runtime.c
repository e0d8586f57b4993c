/*
 * A library that keeps a thread of its own, as MPI libraries do: it works for a while and then waits for
 * messages that never come.
 */
#include "../truth.h"

#include <pthread.h>
#include <sys/epoll.h>

static double seconds, used;
static pthread_t thread;
static int messages, wakeup[2];

KEPT static void *make_progress(void *arg)
{
    struct epoll_event event = {.events = EPOLLIN};
    (void)arg;
    burn_cpu(seconds);
    used = thread_cpu();
    epoll_ctl(messages, EPOLL_CTL_ADD, wakeup[0], &event);
    epoll_wait(messages, &event, 1, -1);
    return NULL;
}

/* Starts the thread, which burns that much processor time. */
void runtime_start(double burned)
{
    seconds = burned;
    messages = epoll_create1(0);
    if (pipe(wakeup) != 0)
        abort();
    pthread_create(&thread, NULL, make_progress, NULL);
}

/* Ends it; returns the processor time it used. */
double runtime_stop(void)
{
    if (write(wakeup[1], "", 1) != 1)
        abort();
    pthread_join(thread, NULL);
    return used;
}

/* What happens at the end of a process: handlers that wait, threads that wait for ever, locks still held. */
#include "cases.h"

#include <semaphore.h>
#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, never_unlocked = PTHREAD_MUTEX_INITIALIZER;
static sem_t never_posted;

static void *at_once(void *argument) { return argument; }

static void wait_at_exit(void)
{
    struct worker worker;
    struct timespec soon = ahead(CLOCK_REALTIME, SHORTLY_MS);
    outcome("at exit: lock", "0 0", "%s",
            BOTH(ERR(pthread_mutex_lock(&mutex)), ERR(pthread_mutex_unlock(&mutex))));
    outcome("at exit: a wait in vain", "-1 ETIMEDOUT", "%s", OUT(sem_timedwait(&never_posted, &soon)));
    outcome("at exit: sleep", "0", "%s", OUT(usleep(1000)));
    start(&worker, at_once, &worker);
    outcome("at exit: a thread", "1", "%d", finish(&worker) == &worker);
    fflush(stdout);
}

static void *wait_for_ever(void *argument)
{
    arrive();
    if (argument == NULL)
        pthread_mutex_lock(&never_unlocked);
    while (sem_wait(&never_posted) != 0)
        continue;
    return NULL;
}

/* Threads that wait when their process ends, in children: by return code, by _exit, by a signal. */
static int end_with_waiters(void *how)
{
    static struct worker workers[2];
    pthread_mutex_lock(&never_unlocked);
    start(&workers[0], wait_for_ever, NULL);
    start(&workers[1], wait_for_ever, how);
    until_asleep(&workers[0]);
    until_asleep(&workers[1]);
    switch (*(char *)how) {
    case 'e': exit(5);
    case 'k': raise(SIGKILL); break;
    case 'a':
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    return 6;
}

static void *end_main(void *argument)
{
    (void)argument;
    usleep(1000);
    exit(8);
}

static int last_thread_ends(void *argument)
{
    static struct worker worker;
    start(&worker, end_main, argument);
    pthread_exit(NULL);
    return 1;
}

void last_things(void)
{
    sem_init(&never_posted, 0, 0);
    outcome("exit while threads wait", "5", "%d", ended(child_of(end_with_waiters, "e")));
    outcome("_exit while threads wait", "6", "%d", ended(child_of(end_with_waiters, "_")));
    outcome("SIGKILL while threads wait", "1009", "%d", ended(child_of(end_with_waiters, "k")));
    outcome("exit of the last thread", "8", "%d", ended(child_of(last_thread_ends, NULL)));
    /* The rest is printed after main has returned; a thread waits for ever, and a lock is held. */
    static struct worker waiter;
    pthread_mutex_lock(&never_unlocked);
    start(&waiter, wait_for_ever, NULL);
    until_asleep(&waiter);
    if (atexit(wait_at_exit) != 0)
        outcome("atexit", "0", "%s", "failed");
}

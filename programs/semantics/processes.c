/* Children: waiting for them, forking with locks held, and everything again in a child. */
#include "cases.h"

#include <semaphore.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static int seven(void *argument)
{
    (void)argument;
    return 7;
}

static int for_ever(void *argument)
{
    (void)argument;
    for (;;)
        pause();
    return 0;
}

static int until_told(void *pipe_end)
{
    char byte;
    return read(*(int *)pipe_end, &byte, 1) == 1 ? 9 : 1;
}

static void *wait_for_child(void *child)
{
    int status = 0;
    arrive();
    pid_t waited = waitpid(*(pid_t *)child, &status, 0);
    event(waited == *(pid_t *)child && WEXITSTATUS(status) == 9 ? "ended" : "failed");
    return NULL;
}

static void waiting(void)
{
    int status = 0;
    struct rusage usage;
    siginfo_t info;
    outcome("wait without children", "-1 ECHILD", "%s", OUT(wait(&status)));
    outcome("waitpid without children", "-1 ECHILD", "%s", OUT(waitpid(-1, &status, WNOHANG)));
    outcome("waitid without children", "-1 ECHILD", "%s", OUT(waitid(P_ALL, 0, &info, WEXITED)));
    outcome("waitpid, no such flag", "-1 EINVAL", "%s", OUT(waitpid(-1, &status, 1 << 20)));

    pid_t child = child_of(seven, NULL);
    outcome("wait", "1 7", "%s", BOTH(number(wait(&status) == child), number(WEXITSTATUS(status))));
    child = child_of(seven, NULL);
    outcome("waitid, leaving it", "0 1 7", "%s",
            THREE(OUT(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT)), number(info.si_pid == child),
                  number(info.si_status)));
    outcome("wait4", "1 7", "%s",
            BOTH(number(wait4(child, &status, 0, &usage) == child), number(WEXITSTATUS(status))));
    child = child_of(seven, NULL);
    outcome("wait3", "1 7", "%s",
            BOTH(number(wait3(&status, 0, &usage) == child), number(WEXITSTATUS(status))));

    child = child_of(for_ever, NULL);
    outcome("waitpid, not waiting", "0", "%s", OUT(waitpid(child, &status, WNOHANG)));
    handle(SIGUSR1, count_signal, 0);
    outcome("waitpid, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(waitpid(child, &status, 0))));
    outcome("waitid, interrupted", "-1 EINTR", "%s",
            INTERRUPTED(SIGUSR1, OUT(waitid(P_ALL, 0, &info, WEXITED))));
    outcome("wait, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(wait(&status))));
    kill(child, SIGSTOP);
    outcome("waitpid for a stopped child", "1 1", "%s",
            BOTH(number(waitpid(child, &status, WUNTRACED) == child), number(WIFSTOPPED(status))));
    kill(child, SIGKILL);
    outcome("waitpid for a killed child", "1009", "%d", ended(child));

    int ends[2];
    struct worker waiter;
    if (pipe(ends) != 0)
        return;
    child = child_of(until_told, &ends[0]);
    start(&waiter, wait_for_child, &child);
    until_asleep(&waiter);
    event("telling");
    if (write(ends[1], "x", 1) != 1)
        event("failed");
    finish(&waiter);
    outcome("waitpid, woken", "telling ended", "%s", events());
    close(ends[0]);
    close(ends[1]);
}

static pthread_mutex_t guarded = PTHREAD_MUTEX_INITIALIZER;
static int record_order;

static void prepare(void)
{
    pthread_mutex_lock(&guarded);
    if (record_order)
        event("prepare");
}
static void in_parent(void)
{
    pthread_mutex_unlock(&guarded);
    if (record_order)
        event("parent");
}
static void in_child(void)
{
    pthread_mutex_unlock(&guarded);
    if (record_order)
        event("child");
}
static void prepare_second(void)
{
    if (record_order)
        event("prepare-second");
}

static atomic_int stop;

static void *lock_and_work(void *argument)
{
    while (!stop) {
        pthread_mutex_lock(&guarded);
        free(malloc(64));
        pthread_mutex_unlock(&guarded);
        usleep(100);
    }
    return argument;
}

static int lock_in_child(void *argument)
{
    (void)argument;
    return pthread_mutex_lock(&guarded) | pthread_mutex_unlock(&guarded);
}

static int order_in_child(void *argument)
{
    (void)argument;
    return strcmp(events(), "prepare-second prepare child");
}

/* Everything a process does, in a child of a process with threads. */
static void *in_thread_of_child(void *argument)
{
    sem_t *semaphore = argument;
    pthread_mutex_lock(&guarded);
    pthread_mutex_unlock(&guarded);
    sem_post(semaphore);
    return semaphore;
}

static int all_in_child(void *argument)
{
    (void)argument;
    sem_t semaphore;
    struct worker workers[2];
    sem_init(&semaphore, 0, 0);
    for (int i = 0; i < 2; i++)
        start(&workers[i], in_thread_of_child, &semaphore);
    for (int i = 0; i < 2; i++)
        while (sem_wait(&semaphore) != 0)
            continue;
    for (int i = 0; i < 2; i++)
        if (finish(&workers[i]) != &semaphore)
            return 1;
    struct timespec past = ahead(CLOCK_REALTIME, EARLIER_MS);
    if (sem_timedwait(&semaphore, &past) != -1 || errno != ETIMEDOUT || usleep(1000) != 0)
        return 2;
    pid_t grandchild = fork();
    if (grandchild == 0)
        _exit(pthread_mutex_lock(&guarded));
    return ended(grandchild) == 0 ? 0 : 3;
}

static pthread_mutex_t left_locked = PTHREAD_MUTEX_INITIALIZER;

static int locked_in_child(void *argument)
{
    (void)argument;
    struct timespec past = ahead(CLOCK_REALTIME, EARLIER_MS);
    int try = pthread_mutex_trylock(&left_locked), timed = pthread_mutex_timedlock(&left_locked, &past);
    /* The child's only thread is the one that held it. */
    int unlocked = pthread_mutex_unlock(&left_locked);
    return !(try == EBUSY && timed == ETIMEDOUT && unlocked == 0);
}

static void forking(void)
{
    pthread_atfork(prepare, in_parent, in_child);
    pthread_atfork(prepare_second, NULL, NULL);
    record_order = 1;
    pid_t child = child_of(order_in_child, NULL);
    record_order = 0;
    outcome("fork: handlers in the parent", "prepare-second prepare parent", "%s", events());
    outcome("fork: handlers in the child", "0", "%d", ended(child));

    struct worker workers[2];
    for (int i = 0; i < 2; i++)
        start(&workers[i], lock_and_work, NULL);
    int failures = 0;
    for (int i = 0; i < 20; i++)
        failures += ended(child_of(lock_in_child, NULL)) != 0;
    failures += ended(child_of(all_in_child, NULL)) != 0;
    stop = 1;
    for (int i = 0; i < 2; i++)
        finish(&workers[i]);
    outcome("fork while threads hold locks", "0 of 21", "%d of 21", failures);
    outcome("fork: threads and waits in the child", "0", "%d", ended(child_of(all_in_child, NULL)));

    pthread_mutex_lock(&left_locked);
    outcome("fork while holding a lock", "0", "%d", ended(child_of(locked_in_child, NULL)));
    pthread_mutex_unlock(&left_locked);
}

static void starting(void)
{
    char *yes[] = {"sh", "-c", "exit 4", NULL}, *nothing[] = {"nothing", NULL};
    pid_t child = -1;
    outcome("posix_spawnp", "0", "%s", ERR(posix_spawnp(&child, "sh", NULL, NULL, yes, environ)));
    outcome("posix_spawnp: its code", "4", "%d", ended(child));
    outcome("posix_spawn of nothing", "ENOENT", "%s",
            ERR(posix_spawn(&child, "/nothing", NULL, NULL, nothing, environ)));
    fflush(stdout);
    child = vfork();
    if (child == 0) {
        execvp("sh", yes);
        _exit(99);
    }
    outcome("vfork and execvp", "4", "%d", ended(child));
    child = fork();
    if (child == 0) {
        execl("/nothing", "nothing", (char *)NULL);
        _exit(errno == ENOENT ? 44 : 45);
    }
    outcome("execl of nothing", "44", "%d", ended(child));
    child = fork();
    if (child == 0) {
        execlp("sh", "sh", "-c", "exit $#", "a", "b", "c", "d", "e", "f", "g", "h", (char *)NULL);
        _exit(99);
    }
    outcome("execlp with many arguments", "7", "%d", ended(child));
}

void processes(void)
{
    waiting();
    forking();
    starting();
}

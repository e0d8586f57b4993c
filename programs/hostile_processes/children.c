/* Children made in every way, and stopped; one that outlives all others. */
#include "cases.h"

#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>

extern char **environ;

static void *forks(void *right)
{
    for (int i = 0; i < 15; i++) {
        pid_t child = fork();
        if (child == 0) {
            burn_cpu(0.001);
            _exit(7);
        }
        if (WEXITSTATUS(status_of(child)) == 7)
            __atomic_add_fetch((int *)right, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

void fork_from_threads(void)
{
    pthread_t threads[4];
    int right = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, forks, &right);
    burn_cpu(0.1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_IS(right, 60);
}

/* A child with threads of its own, made by a thread: it knows only the one. */
void threads_in_a_child_of_a_thread(void)
{
    pid_t child = fork();
    if (child == 0) {
        double seconds = 0.05;
        pthread_t threads[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, burns, &seconds);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        exit(9);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 9);
}

void five_hundred_children(void)
{
    enum { ALL = 500, AT_ONCE = 25 };
    int started = 0, ended = 0, right = 0, status;
    while (ended < ALL) {
        if (started < ALL && started - ended < AT_ONCE) {
            pid_t child = fork();
            if (child == 0)
                _exit(started % 100);
            if (child < 0)
                NOT_HERE("so many processes");
            started++;
            continue;
        }
        if (wait(&status) > 0) {
            ended++;
            right += WIFEXITED(status);
        }
    }
    CHECK_IS(right, ALL);
    CHECK(wait(&status) == -1 && errno == ECHILD);
}

void borrowed_memory(void)
{
    volatile int right = 0;
    for (volatile int i = 0; i < 30; i++) {
        pid_t child = vfork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
            _exit(1);
        }
        right += WEXITSTATUS(status_of(child)) == 5;
    }
    CHECK_IS(right, 30);
    pid_t child = vfork();
    if (child == 0) {
        execl("/no/such/program", "none", (char *)NULL);
        _exit(errno == ENOENT ? 6 : 1);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 6);
    CHECK_IS(posix_spawn(&child, "/no/such/program", NULL, NULL, (char *[]){"none", NULL}, environ), ENOENT);
}

static int cloned(void *argument)
{
    burn_cpu(0.02);
    return *(int *)argument;
}

void clones(void)
{
    static char stack[262144] __attribute__((aligned(16)));
    int answer = 33;
    CHECK_IS(WEXITSTATUS(status_of(clone(cloned, stack + sizeof stack, SIGCHLD, &answer))), 33);
    CHECK_IS(WEXITSTATUS(status_of(clone(cloned, stack + sizeof stack, CLONE_VFORK | SIGCHLD, &answer))), 33);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        uint64_t x = 1;
        BURN(x, 1000 * UNIT);
        kept_result = x;
        syscall(SYS_exit_group, 34);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 34);
}

void stopped_and_continued(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        burn_cpu(0.02);
        raise(SIGSTOP);
        burn_cpu(0.05);
        raise(SIGTSTP);
        _exit(23);
    }
    setpgid(child, child);
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    kill(-child, SIGCONT);
    CHECK(waitpid(child, &status, WCONTINUED) == child && WIFCONTINUED(status));
    /* A group without a terminal's parent session ignores SIGTSTP; one with it stops. */
    CHECK(waitpid(child, &status, WUNTRACED) == child);
    if (WIFSTOPPED(status)) {
        kill(-child, SIGCONT);
        waitpid(child, &status, 0);
    }
    CHECK_IS(WEXITSTATUS(status), 23);
}

/* Goes on when everybody else has ended, and leaves a file. */
void outlives_its_parent(void)
{
    if (fork() != 0)
        return;
    setsid();
    if (fork() != 0)
        _exit(0);
    closefrom(0);
    burn_cpu(0.3);
    struct timespec moment = {0, 300000000};
    nanosleep(&moment, NULL);
    burn_cpu(0.1);
    int file = open("daemon.tmp", O_WRONLY | O_CREAT, 0644);
    if (write(file, "done\n", 5) == 5)
        rename("daemon.tmp", "daemon.done");
    _exit(0);
}

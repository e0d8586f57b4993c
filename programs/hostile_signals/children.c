/* What children and the programs that they become inherit. */
#include "cases.h"

#include <spawn.h>

extern char **environ;

/* One image of many, each with handlers for the signals that do no harm when they are still pending in the
   next. */
int chain(int left)
{
    char next[16];
    handle(SIGURG, count, SA_RESTART);
    handle(SIGWINCH, count, SA_RESTART);
    burn_cpu(0.006);
    if (left == 0)
        return 77;
    snprintf(next, sizeof next, "%d", left - 1);
    execl("/proc/self/exe", "hostile_signals", "chain", next, (char *)NULL);
    return 1;
}

void exec_with_handlers(void)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(chain(60));
    waitpid(child, &status, 0);
    CHECK_IS(status, 77 << 8);
}

/* Handler, mask and ignored signals go over to a child and to the program that it becomes as they always do.
   */
void inherited(void)
{
    int status;
    handle(SIGURG, count, 0);
    pid_t child = fork();
    if (child == 0) {
        struct sigaction now;
        sigaction(SIGURG, NULL, &now);
        raise(SIGURG);
        burn_cpu(0.02);
        _exit(now.sa_sigaction == count && hits[SIGURG] == 1 && foreign == 0 ? 7 : 8);
    }
    waitpid(child, &status, 0);
    CHECK_IS(WEXITSTATUS(status), 7);
    child = fork();
    if (child == 0) {
        sigset_t some;
        sigemptyset(&some);
        sigaddset(&some, SIGURG);
        sigaddset(&some, SIGUSR2);
        sigprocmask(SIG_SETMASK, &some, NULL);
        signal(SIGURG, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        fflush(stdout);
        execl("/proc/self/exe", "hostile_signals", "after_exec", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    CHECK_IS(WEXITSTATUS(status), 0);
}

/* What a child does to its signals while it borrows its parent's memory is its own. */
void borrowed_by_a_child(void)
{
    struct sigaction now;
    sigset_t mask, urgent;
    int status;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    handle(SIGURG, count, SA_RESTART);
    burn_cpu(0.02);
    for (int way = 0; way < 4; way++) {
        pid_t child = vfork();
        if (child == 0) {
            if (way & 1) {
                signal(SIGURG, SIG_IGN);
                signal(SIGWINCH, SIG_IGN);
            } else {
                struct sigaction none = {.sa_handler = SIG_DFL};
                sigaction(SIGURG, &none, NULL);
                sigaction(SIGWINCH, &none, NULL);
            }
            if (way & 2) {
                sigset_t all;
                sigfillset(&all);
                sigprocmask(SIG_SETMASK, &all, NULL);
            }
            _exit(3);
        }
        waitpid(child, &status, 0);
        CHECK_IS(WEXITSTATUS(status), 3);
        sigaction(SIGURG, NULL, &now);
        CHECK(now.sa_sigaction == count);
        sigaction(SIGWINCH, NULL, &now);
        CHECK(now.sa_handler == SIG_DFL);
        pthread_sigmask(SIG_BLOCK, NULL, &mask);
        CHECK(sigisemptyset(&mask));
        raise(SIGURG);
        burn_cpu(0.01);
        CHECK_IS(hits[SIGURG], way + 1);
    }
    signal(SIGURG, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &urgent, NULL);
    burn_cpu(0.02);
    fflush(stdout);
    pid_t child = vfork();
    if (child == 0) {
        signal(SIGURG, SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &urgent, NULL);
        execl("/proc/self/exe", "hostile_signals", "nothing_set_at_the_start", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    CHECK_IS(WEXITSTATUS(status), 0);
    CHECK(signal(SIGURG, SIG_IGN) == SIG_IGN);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    CHECK_IS(sigismember(&mask, SIGURG), 1);
}

/* What is ignored or blocked is so for every child from its start on, however it is made. */
void handed_to_children(void)
{
    char own[4096], command[8192];
    int status;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    CHECK(length > 0);
    own[length > 0 ? length : 0] = 0;
    snprintf(command, sizeof command, "exec '%s' after_exec", own);
    sigset_t some, now;
    sigemptyset(&some);
    sigaddset(&some, SIGURG);
    sigaddset(&some, SIGUSR2);
    sigprocmask(SIG_SETMASK, &some, NULL);
    signal(SIGURG, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    burn_cpu(0.02);
    fflush(stdout);
    pid_t child;
    char *arguments[] = {"hostile_signals", "after_exec", NULL};
    int refused = posix_spawn(&child, own, NULL, NULL, arguments, environ);
    if (refused == 0)
        waitpid(child, &status, 0);
    CHECK_IS(refused, 0);
    CHECK_IS(status, 0);
    refused = posix_spawnp(&child, own, NULL, NULL, arguments, environ);
    if (refused == 0)
        waitpid(child, &status, 0);
    CHECK_IS(refused, 0);
    CHECK_IS(status, 0);
    CHECK_IS(system(command), 0);
    FILE *pipe = popen(command, "r");
    char line[256];
    int lines = 0;
    while (pipe != NULL && fgets(line, sizeof line, pipe) != NULL) {
        lines += strstr(line, "WRONG") == NULL;
        lines -= strstr(line, "WRONG") != NULL;
    }
    CHECK_IS(lines, 7);
    CHECK_IS(pipe == NULL ? -1 : pclose(pipe), 0);
    CHECK(signal(SIGURG, SIG_IGN) == SIG_IGN);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK_IS(sigismember(&now, SIGURG), 1);
    burn_cpu(0.02);
}

/* What `inherited` left to the program it became. */
void after_exec(void)
{
    sigset_t mask;
    struct sigaction urgent, hangup, user;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    CHECK_IS(sigismember(&mask, SIGURG), 1);
    CHECK_IS(sigismember(&mask, SIGUSR2), 1);
    CHECK_IS(sigismember(&mask, SIGUSR1), 0);
    sigaction(SIGURG, NULL, &urgent);
    sigaction(SIGHUP, NULL, &hangup);
    sigaction(SIGUSR1, NULL, &user);
    CHECK(urgent.sa_handler == SIG_IGN);
    CHECK(hangup.sa_handler == SIG_IGN);
    CHECK(user.sa_handler == SIG_DFL);
    burn_cpu(0.02);
}

/* Processes that become another program. */
#include "cases.h"

void exec_loop(void)
{
    pid_t child = fork();
    if (child == 0) {
        fflush(stdout);
        execl("/proc/self/exe", "hostile_processes", "again", "300", (char *)NULL);
        _exit(1);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 77);
}

/* One image of the loop: less time than from one sample to the next. */
int again(int left)
{
    char next[16];
    burn_cpu(0.001);
    if (left == 0)
        return 77;
    snprintf(next, sizeof next, "%d", left - 1);
    execl("/proc/self/exe", "hostile_processes", "again", next, (char *)NULL);
    return 1;
}

void exec_from_a_thread_is_the_whole_process(void)
{
    pid_t child = fork();
    if (child == 0) {
        double for_ever = 100;
        pthread_t threads[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, burns, &for_ever);
        burn_cpu(0.02);
        execl("/proc/self/exe", "hostile_processes", "again", "0", (char *)NULL);
        _exit(1);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 77);
}

void empty_environment(void)
{
    pid_t child = fork();
    if (child == 0) {
        clearenv();
        execle("/bin/sh", "sh", "-c", "exit 25", (char *)NULL, (char *[]){NULL});
        _exit(1);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 25);
    child = fork();
    if (child == 0) {
        execve("/bin/sh", (char *[]){"sh", "-c", "exit 26", NULL}, NULL);
        _exit(1);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 26);
}

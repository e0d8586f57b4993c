/* Another user, another root, and system calls that kill. */
#include "cases.h"

#include <dirent.h>
#include <grp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

void of_no_interest_to_others(void)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_DUMPABLE, 0);
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        prctl(PR_SET_NAME, "\xff\x01 odd\n");
        burn_cpu(0.05);
        _exit(27);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 27);
}

void another_user(void)
{
    if (geteuid() != 0)
        NOT_HERE("only root can become another user");
    pid_t child = fork();
    if (child == 0) {
        int done = setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 &&
                   setresuid(65534, 65534, 65534) == 0;
        burn_cpu(0.05);
        pid_t inner = fork();
        if (inner == 0) {
            burn_cpu(0.02);
            execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
            _exit(1);
        }
        _exit(done && WEXITSTATUS(status_of(inner)) == 3 ? 28 : 29);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 28);
}

void another_root(void)
{
    if (geteuid() != 0)
        NOT_HERE("only root can change the root");
    char folder[] = "/tmp/hostile-root-XXXXXX";
    if (mkdtemp(folder) == NULL)
        NOT_HERE("no temporary folder");
    pid_t child = fork();
    if (child == 0) {
        int done = chroot(folder) == 0 && chdir("/") == 0;
        burn_cpu(0.05);
        double seconds = 0.02;
        pthread_t thread;
        pthread_create(&thread, NULL, burns, &seconds);
        pthread_join(thread, NULL);
        pid_t inner = fork();
        if (inner == 0) {
            burn_cpu(0.02);
            _exit(3);
        }
        done &= WEXITSTATUS(status_of(inner)) == 3;
        DIR *root = opendir("/");
        int entries = 0;
        while (root != NULL && readdir(root) != NULL)
            entries++;
        _exit(done && entries == 2 ? 30 : 31);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 30);
    CHECK_IS(rmdir(folder), 0);
}

static int filter_all_but(const int *numbers, int count)
{
    struct sock_filter filter[64];
    int n = 0;
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < count; i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)numbers[i], 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog program = {(unsigned short)n, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) | prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void system_calls_are_killed(void)
{
    static const int allowed[] = {SYS_write, SYS_exit_group, SYS_rt_sigreturn, SYS_clock_gettime, SYS_exit};
    pid_t child = fork();
    if (child == 0) {
        burn_cpu(0.05);
        if (filter_all_but(allowed, 5) != 0)
            _exit(34);
        burn_cpu(0.1);
        _exit(33);
    }
    int status = status_of(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 34)
        NOT_HERE("no system call filters");
    CHECK_IS(status, 33 << 8);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        uint64_t x = 1;
        BURN(x, 5000 * UNIT);
        kept_result = x;
        syscall(SYS_exit, 35);
    }
    CHECK_IS(status_of(child), 35 << 8);
    child = fork();
    if (child == 0) {
        filter_all_but(allowed, 5);
        burn_cpu(0.02);
        getppid();
        _exit(36);
    }
    status = status_of(child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

/*
 * Processes made and changed in every way: forks from threads, hundreds of children, vfork, clone, an exec loop, daemons,
 * limits, closed descriptors, job control, confinement.
 * hostile_processes [CASE …]
 */
#include "hostile.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

extern char **environ;

static int status_of(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static void *burns(void *seconds)
{
    burn_cpu(*(double *)seconds);
    return NULL;
}

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

static void fork_from_threads(void)
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
static void threads_in_a_child_of_a_thread(void)
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

static void five_hundred_children(void)
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

static void borrowed_memory(void)
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

static void clones(void)
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

static void exec_loop(void)
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
static int again(int left)
{
    char next[16];
    burn_cpu(0.001);
    if (left == 0)
        return 77;
    snprintf(next, sizeof next, "%d", left - 1);
    execl("/proc/self/exe", "hostile_processes", "again", next, (char *)NULL);
    return 1;
}

static void exec_from_a_thread_is_the_whole_process(void)
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

static int open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    if (folder == NULL)
        return -1;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count - 3; /* ., .. and the folder itself */
}

static void closes_everything(void)
{
    pid_t child = fork();
    if (child == 0) {
        closefrom(3);
        burn_cpu(0.05);
        int count = open_descriptors();
        int first = open("/dev/null", O_RDONLY);
        burn_cpu(0.02);
        _exit(count == 3 && first == 3 ? 11 : 12);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 11);
    child = fork();
    if (child == 0) {
        /* A daemon's way, the standard streams included. */
        for (int descriptor = 0; descriptor < 1024; descriptor++)
            close(descriptor);
        burn_cpu(0.05);
        _exit(open("/dev/null", O_RDWR) == 0 && open("/dev/null", O_RDWR) == 1 ? 13 : 14);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 13);
}

static void sixteen_descriptors(void)
{
    pid_t child = fork();
    if (child == 0) {
        closefrom(3);
        struct rlimit few = {16, 16};
        setrlimit(RLIMIT_NOFILE, &few);
        int got = 0;
        while (open("/dev/null", O_RDONLY) >= 0)
            got++;
        int full = errno == EMFILE;
        /* Nothing is free, and threads and samples go on. */
        double seconds = 0.05;
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, burns, &seconds);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        pid_t inner = fork();
        if (inner == 0) {
            burn_cpu(0.02);
            _exit(3);
        }
        _exit(got == 13 && full && WEXITSTATUS(status_of(inner)) == 3 ? 15 : 16);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 15);
}

static void little_address_space(void)
{
    pid_t child = fork();
    if (child == 0) {
        unsigned long pages = 0;
        FILE *file = fopen("/proc/self/statm", "r");
        if (file == NULL || fscanf(file, "%lu", &pages) != 1)
            _exit(1);
        fclose(file);
        struct rlimit little = {pages * 4096 + (16 << 20), pages * 4096 + (16 << 20)};
        setrlimit(RLIMIT_AS, &little);
        int got = 0;
        while (got < 100 && malloc(1 << 20) != NULL)
            got++;
        int full = errno == ENOMEM;
        burn_cpu(0.1);
        double seconds = 0.05;
        pthread_t thread;
        int refused = pthread_create(&thread, NULL, burns, &seconds);
        if (refused == 0)
            pthread_join(thread, NULL);
        _exit(got >= 8 && got <= 16 && full && (refused == 0 || refused == EAGAIN) ? 17 : 18);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 17);
}

static void little_file_size(void)
{
    pid_t child = fork();
    if (child == 0) {
        struct rlimit little = {4096, 4096};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &little);
        double seconds = 0.1;
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, burns, &seconds);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        pid_t inner = fork();
        if (inner == 0) {
            burn_cpu(0.05);
            _exit(3);
        }
        _exit(WEXITSTATUS(status_of(inner)) == 3 ? 19 : 20);
    }
    CHECK_IS(WEXITSTATUS(status_of(child)), 19);
    child = fork();
    if (child == 0) {
        /* Now the kernel's signal ends who writes beyond: that may be this program only. */
        struct rlimit little = {4096, 4096};
        setrlimit(RLIMIT_FSIZE, &little);
        burn_cpu(0.2);
        pid_t inner = fork();
        if (inner == 0) {
            burn_cpu(0.05);
            _exit(3);
        }
        _exit(WEXITSTATUS(status_of(inner)) == 3 ? 21 : 22);
    }
    CHECK_IS(status_of(child), 21 << 8);
}

static void stopped_and_continued(void)
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

static void empty_environment(void)
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

static void of_no_interest_to_others(void)
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

static void another_user(void)
{
    if (geteuid() != 0)
        NOT_HERE("only root can become another user");
    pid_t child = fork();
    if (child == 0) {
        int done = setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0;
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

static void another_root(void)
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

static void system_calls_are_killed(void)
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

/* Goes on when everybody else has ended, and leaves a file. */
static void outlives_its_parent(void)
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

static void *does_nothing(void *argument) { return argument; }

/* One after the other. */
static int many_threads(int count)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, does_nothing, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}

static void *named(void *name)
{
    pthread_setname_np(pthread_self(), name);
    burn_cpu(0.1);
    return NULL;
}

/* Names that a terminal, a table or a parser could take for something else. */
static int odd_names(void)
{
    static char names[][16] = {"\x1b[31mred", "\xff\xfe", "a\nb\tc", "\"quoted\",'", "", "|a|b\\", "\r\x07\x08"};
    pthread_t threads[7];
    for (int i = 0; i < 7; i++)
        pthread_create(&threads[i], NULL, named, names[i]);
    for (int i = 0; i < 7; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

#define CASE(name) {#name, name}

int main(int argc, char **argv)
{
    static const struct hostile_case cases[] = {
        CASE(fork_from_threads), CASE(threads_in_a_child_of_a_thread), CASE(five_hundred_children), CASE(borrowed_memory),
        CASE(clones), CASE(exec_loop), CASE(exec_from_a_thread_is_the_whole_process), CASE(closes_everything),
        CASE(sixteen_descriptors), CASE(little_address_space), CASE(little_file_size), CASE(stopped_and_continued),
        CASE(empty_environment), CASE(of_no_interest_to_others), CASE(another_user), CASE(another_root),
        CASE(system_calls_are_killed), {NULL, NULL}};
    if (argc == 3 && strcmp(argv[1], "again") == 0)
        return again(atoi(argv[2]));
    if (argc == 2 && strcmp(argv[1], "daemon") == 0) {
        outlives_its_parent();
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "threads") == 0)
        return many_threads(atoi(argv[2]));
    if (argc == 2 && strcmp(argv[1], "names") == 0)
        return odd_names();
    return run_cases(cases, argc, argv);
}

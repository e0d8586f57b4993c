/*
 * Children started and ended in every way. Each burns CPU time of its own and appends one line of truth to
 * FILE: its pid, how it came about, the CPU time it burned (`cpu_s`) and its whole CPU clock (`clock_s`; an
 * exec keeps it).
 * process_tree [SECONDS of all together] [FILE]
 * process_tree --child HOW SECONDS FILE      what an executed child is started as
 */
#include "truth.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static double share_s;
static char share_text[32], file[4096];

/* O_APPEND and a single write: lines of several processes never mix. */
static void append_truth(const char *how, double cpu_s)
{
    char line[256];
    int length = snprintf(line, sizeof line, "{\"pid\":%d,\"how\":\"%s\",\"cpu_s\":%.6f,\"clock_s\":%.6f}\n",
                          (int)getpid(), how, cpu_s, process_cpu());
    int fd = open(file, O_WRONLY | O_APPEND | O_CREAT, 0644);
    if (fd < 0 || write(fd, line, (size_t)length) != length)
        perror(file);
    close(fd);
}

KEPT void child_work(const char *how, double seconds)
{
    double before = thread_cpu();
    burn_cpu(seconds);
    append_truth(how, thread_cpu() - before);
}

static void fill_arguments(char **arguments, const char *how)
{
    char *all[] = {"process_tree", "--child", (char *)how, share_text, file, NULL};
    memcpy(arguments, all, sizeof all);
}

/* The path of this program: "/proc/self/exe" itself would name the shell in a child of system(). */
static const char *own_path(void)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        exit(2);
    return path;
}

static pid_t spawned(void)
{
    char *arguments[6];
    pid_t pid;
    fill_arguments(arguments, "posix_spawn");
    return posix_spawn(&pid, own_path(), NULL, NULL, arguments, environ) == 0 ? pid : -1;
}

static pid_t vforked(void)
{
    char *arguments[6];
    fill_arguments(arguments, "vfork_exec");
    const char *path = own_path();
    pid_t pid = vfork();
    if (pid == 0) {
        execv(path, arguments);
        _exit(127);
    }
    return pid;
}

static pid_t executed(void)
{
    char *arguments[6];
    fill_arguments(arguments, "fork_exec");
    const char *path = own_path();
    pid_t pid = fork();
    if (pid == 0) {
        execv(path, arguments);
        _exit(127);
    }
    return pid;
}

static int by_shell(const char *how, int through_popen)
{
    char command[9000];
    snprintf(command, sizeof command, "'%s' --child %s %s '%s'", own_path(), how, share_text, file);
    if (!through_popen)
        return system(command);
    FILE *stream = popen(command, "r");
    while (stream && fgetc(stream) != EOF)
        continue;
    return stream ? pclose(stream) : -1;
}

/* A child with a child: the truth of both is in the file before the first one ends. */
static void with_grandchild(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        child_work("grandchild", share_s);
        _exit(0);
    }
    child_work("child_with_grandchild", share_s);
    waitpid(pid, NULL, 0);
    _exit(0);
}

/* Prints the lines of FILE as one JSON list. */
static void print_children(void)
{
    FILE *lines = fopen(file, "r");
    char line[512];
    for (int n = 0; lines && fgets(line, sizeof line, lines); n++) {
        line[strcspn(line, "\n")] = 0;
        printf("%s%s", n ? "," : "", line);
    }
    if (lines)
        fclose(lines);
}

int main(int argc, char **argv)
{
    double began = wall();
    if (argc == 5 && strcmp(argv[1], "--child") == 0) {
        snprintf(file, sizeof file, "%s", argv[4]);
        child_work(argv[2], atof(argv[3]));
        return 0;
    }
    share_s = seconds_argument(argc, argv, 1, 1.0) / 11;
    snprintf(share_text, sizeof share_text, "%.6f", share_s);
    if (argc > 2) {
        snprintf(file, sizeof file, "%s", argv[2]);
    } else {
        strcpy(file, "/tmp/process_tree-XXXXXX");
        close(mkstemp(file));
    }

    int failed = 0, started = 0, status;
    const char *endings[] = {"fork_return", "fork_exit", "fork__exit"};
    for (int i = 0; i < 3; i++, started++) {
        if (fork() == 0) {
            child_work(endings[i], share_s);
            if (i == 0)
                return 0;
            if (i == 1)
                exit(0);
            _exit(0);
        }
    }
    if (fork() == 0)
        with_grandchild();
    started++;
    failed += executed() < 0;
    failed += spawned() < 0;
    failed += vforked() < 0;
    started += 3;
    failed += by_shell("system", 0) != 0;
    failed += by_shell("popen", 1) != 0;
    double before = thread_cpu();
    burn_cpu(share_s);
    double own_s = thread_cpu() - before;
    while (wait(&status) > 0) {
        started--;
        failed += status != 0;
    }
    printf("{\"program\":\"process_tree\",\"pid\":%d,\"cpu_s\":%.6f,\"children\":[", (int)getpid(), own_s);
    print_children();
    printf("],\"clock_s\":%.6f,\"wall_s\":%.6f}\n", process_cpu(), wall() - began);
    if (argc <= 2)
        unlink(file);
    return failed != 0 || started != 0;
}

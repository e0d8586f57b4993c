/* Closed descriptors, and limits that the program sets itself. */
#include "cases.h"

#include <dirent.h>
#include <sys/resource.h>

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

void closes_everything(void)
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

void sixteen_descriptors(void)
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

void little_address_space(void)
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

void little_file_size(void)
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

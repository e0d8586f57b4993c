/* Worker processes share a file, and each holds its lock while it computes what it will write there. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

static NOINLINE double estimate(long sample) { return refine((double)sample, 70000); }

static NOINLINE double examine(double value) { return refine(value, 15000); }

static NOINLINE void update_total(const char *path, long sample)
{
    double total = 0;
    int file = open(path, O_RDWR);
    flock(file, LOCK_EX); /* FAULT: held while the estimate is computed */
    if (pread(file, &total, sizeof total, 0) != (ssize_t)sizeof total)
        total = 0;
    total += estimate(sample);
    if (pwrite(file, &total, sizeof total, 0) != (ssize_t)sizeof total)
        _exit(1);
    close(file);
}

int main(int argc, char **argv)
{
    int workers = threads_asked(argc, argv);
    const char *path = argc > 2 ? argv[2] : "total";
    close(open(path, O_RDWR | O_CREAT | O_TRUNC, 0644));
    for (int worker = 0; worker < workers; worker++)
        if (fork() == 0) {
            for (long sample = worker; sample < 2200; sample += workers) {
                update_total(path, sample);
                examine((double)sample);
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    printf("%d\n", workers);
    return 0;
}

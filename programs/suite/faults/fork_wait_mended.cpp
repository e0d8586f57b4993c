// Pictures are converted by a process of their own each, as the converter cannot be trusted with our memory.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

static double *results;

static NOINLINE double convert(int picture)
{
    double sum = 0;
    for (int block = 0; block < 64; block++)
        sum += refine(picture + block, 45000);
    return sum;
}

static pid_t start(int picture)
{
    pid_t child = fork();
    if (child == 0) {
        results[picture] = convert(picture);
        _exit(0);
    }
    return child;
}

static NOINLINE void convert_all(int pictures, int processes)
{
    int running = 0;
    for (int picture = 0; picture < pictures; picture++) {
        if (running == processes && wait(nullptr) > 0)
            running--;
        running += start(picture) > 0;
    }
    while (wait(nullptr) > 0)
        ;
}

int main(int argc, char **argv)
{
    int processes = threads_asked(argc, argv), pictures = 26 * processors();
    size_t size = pictures * sizeof *results;
    void *shared = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    results = static_cast<double *>(shared);
    convert_all(pictures, processes);
    double sum = 0;
    for (int picture = 0; picture < pictures; picture++)
        sum += results[picture];
    printf("%.6f\n", sum);
    return 0;
}

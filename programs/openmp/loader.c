/*
 * A program that loads libraries with parallel regions, one after the other: loader SECONDS LIBRARY… They
 * stay loaded: the threads of their runtimes do. With OpenMP of its own it has regions of its own before,
 * between and behind.
 */
#include "../truth.h"
#include <dlfcn.h>
#include <string.h>

static double used;
static int regions;

static void own_regions(double seconds)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(2) reduction(+ : used)
    {
        double begin = thread_cpu();
        burn_cpu(seconds);
        used += thread_cpu() - begin;
    }
    regions++;
#else
    (void)seconds;
#endif
}

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 0.2);
    own_regions(seconds);
    for (int i = 2; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        double (*work)(double) = library ? (double (*)(double))dlsym(library, "work_in_library") : NULL;
        if (!work) {
            fprintf(stderr, "loader: %s\n", dlerror());
            return 2;
        }
        used += work(seconds);
        regions += 10;
        own_regions(seconds);
    }
    own_regions(seconds);
    printf("{\"work_cpu_s\":%.6f,\"regions\":%d}\n", used, regions);
    return 0;
}

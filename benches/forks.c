/*
 * Forks children that exit at once, one after the other, and prints what one took from fork to the end of
 * its wait.
 * forks [CHILDREN]
 */
#include "truth.h"

#include <sys/wait.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int children = argc > 1 ? atoi(argv[1]) : 300;
    double *took = calloc((size_t)children, sizeof *took);
    if (children < 1 || took == NULL)
        return 2;
    for (int i = 0; i < children; i++) {
        double began = wall();
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return 1;
        took[i] = 1e6 * (wall() - began);
    }
    qsort(took, (size_t)children, sizeof *took, by_size);
    printf("{\"children\":%d,\"median_us\":%.3f}\n", children, took[children / 2]);
    return 0;
}

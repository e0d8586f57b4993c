/* Matrices are multiplied by a library that is opened at run time, or by the program. Arguments: seconds,
   `reference` or `own`, the library's path. */
#include <dlfcn.h>

#include "../truth.h"

enum { N = 160 };
typedef void dgemm(const char *, const char *, const int *, const int *, const int *, const double *,
                   const double *, const int *, const double *, const int *, const double *, double *,
                   const int *);

static double a[N * N], b[N * N], c[N * N];
static dgemm *library;

KEPT static void multiply(void)
{
    const int n = N;
    const double one = 1, zero = 0;
    if (library) {
        library("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
        __asm__ volatile("");
        return;
    }
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[k * N + i] * b[j * N + k];
            c[j * N + i] = sum;
        }
}

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 0.5), inside_s = 0;
    if (argc > 3 && argv[2][0] == 'r') {
        void *opened = dlopen(argv[3], RTLD_NOW);
        library = opened ? (dgemm *)dlsym(opened, "dgemm_") : NULL;
        if (!library)
            return 2;
    }
    for (int i = 0; i < N * N; i++) {
        a[i] = i % 7;
        b[i] = i % 5;
    }
    while (inside_s < seconds) {
        double before = thread_cpu();
        multiply();
        inside_s += thread_cpu() - before;
    }
    printf("{\"inside_s\":%.6f,\"first\":%.1f}\n", inside_s, c[0]);
    return 0;
}

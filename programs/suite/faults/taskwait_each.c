/* A task is made for each document and waited for before the next is made. */
#include <omp.h>

#include "../suite.h"

static NOINLINE double index_document(int number)
{
    return refine(number, 150000 + 2000 * (number * 17 % 31));
}

static NOINLINE void index_all(double *results, int documents)
{
#pragma omp parallel
#pragma omp single
    for (int number = 0; number < documents; number++) {
#pragma omp task
        results[number] = index_document(number);
#pragma omp taskwait /* FAULT: inside the loop, so that one task runs at a time */
    }
}

int main(int argc, char **argv)
{
    int documents = 450 * processors();
    omp_set_num_threads(threads_asked(argc, argv));
    double *results = calloc(documents, sizeof *results), sum = 0;
    index_all(results, documents);
    for (int i = 0; i < documents; i++)
        sum += results[i];
    printf("%.6f\n", sum);
    free(results);
    return 0;
}

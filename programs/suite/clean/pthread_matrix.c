/* Four times a matrix product, a band of rows for each thread, joined once at the end. */
#include <pthread.h>

#include "../suite.h"

#define SIDE 560

struct band {
    pthread_t thread;
    int begin, end;
    const double *a, *b;
    double *product;
};

static void *multiply(void *argument)
{
    struct band *band = argument;
    for (int row = band->begin; row < band->end; row++)
        for (int inner = 0; inner < 4 * SIDE; inner++) {
            double factor = band->a[row * SIDE + inner % SIDE];
            for (int column = 0; column < SIDE; column++)
                band->product[row * SIDE + column] += factor * band->b[inner % SIDE * SIDE + column];
        }
    return NULL;
}

int main(int argc, char **argv)
{
    int rows = SIDE * processors() * 4, threads = threads_asked(argc, argv);
    double *a = malloc(sizeof *a * rows * SIDE), *b = malloc(sizeof *b * SIDE * SIDE);
    double *product = calloc((size_t)rows * SIDE, sizeof *product);
    struct band *bands = calloc(threads, sizeof *bands);
    for (int i = 0; i < rows * SIDE; i++)
        a[i] = i % 17 - 8;
    for (int i = 0; i < SIDE * SIDE; i++)
        b[i] = i % 13 - 6;
    for (int i = 0; i < threads; i++) {
        bands[i] = (struct band){.a = a, .b = b, .product = product};
        bands[i].begin = (int)((long)rows * i / threads);
        bands[i].end = (int)((long)rows * (i + 1) / threads);
        pthread_create(&bands[i].thread, NULL, multiply, &bands[i]);
    }
    double sum = 0;
    for (int i = 0; i < threads; i++)
        pthread_join(bands[i].thread, NULL);
    for (int i = 0; i < rows; i++)
        sum += product[i * SIDE + i % SIDE];
    printf("%.1f\n", sum);
    free(a);
    free(b);
    free(product);
    free(bands);
    return 0;
}

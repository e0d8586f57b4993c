/* Fourier transforms of pictures: all rows, then all columns as rows of the transposed pictures. */
#include <omp.h>

#include "../suite.h"

#define SIDE 256

typedef struct
{
    double real, imaginary;
} Number;

static Number roots[SIDE / 2];

static NOINLINE void transform_row(Number *row)
{
    for (int i = 1, j = 0; i < SIDE; i++) {
        int bit = SIDE / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            Number swap = row[i];
            row[i] = row[j];
            row[j] = swap;
        }
    }
    for (int size = 2; size <= SIDE; size *= 2)
        for (int first = 0; first < SIDE; first += size)
            for (int i = 0; i < size / 2; i++) {
                Number *low = &row[first + i], *high = low + size / 2, root = roots[i * (SIDE / size)];
                double real = high->real * root.real - high->imaginary * root.imaginary;
                double imaginary = high->real * root.imaginary + high->imaginary * root.real;
                *high = (Number){low->real - real, low->imaginary - imaginary};
                *low = (Number){low->real + real, low->imaginary + imaginary};
            }
}

static NOINLINE void transform_rows(Number *pictures, int rows)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++)
        transform_row(pictures + (size_t)row * SIDE);
}

static NOINLINE void transpose(const Number *from, Number *to, int rows)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        const Number *picture = from + (size_t)(row / SIDE) * SIDE * SIDE;
        for (int column = 0; column < SIDE; column++) {
            Number value = picture[column * SIDE + row % SIDE];
            to[(size_t)row * SIDE + column] = (Number){value.real / 16, value.imaginary / 16};
        }
    }
}

int main(int argc, char **argv)
{
    int rows = 8 * processors() * SIDE;
    size_t size = (size_t)rows * SIDE;
    omp_set_num_threads(threads_asked(argc, argv));
    Number *one = malloc(size * sizeof *one), *other = malloc(size * sizeof *other);
    for (int i = 0; i < SIDE / 2; i++)
        roots[i] = (Number){cos(2 * M_PI * i / SIDE), -sin(2 * M_PI * i / SIDE)};
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < SIDE; column++) {
            one[(size_t)row * SIDE + column] = (Number){(row * 7 + column * column) % 13, 0};
            other[(size_t)row * SIDE + column] = (Number){0, 0};
        }
    for (int round = 0; round < 100; round++) {
        transform_rows(one, rows);
        transpose(one, other, rows);
        transform_rows(other, rows);
        transpose(other, one, rows);
    }
    printf("%.6f %.6f\n", one[5 * SIDE + 3].real, one[size / 2 + 9].imaginary);
    free(one);
    free(other);
    return 0;
}

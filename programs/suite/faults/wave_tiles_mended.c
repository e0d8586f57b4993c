/* Two long sequences are aligned: tiles of the table of scores are tasks, each after those above and left. */
#include <omp.h>

#include "../suite.h"

enum { LENGTH = 34560, MOST = 64 };

static char first[LENGTH + 1], second[LENGTH + 1];
static int row[LENGTH + 1], column[LENGTH + 1], corner[MOST + 1][MOST + 1];

static void make_sequences(void)
{
    uint64_t state = 88172645463325252;
    for (int i = 1; i <= LENGTH; i++) {
        uint64_t random = next_random(&state);
        first[i] = "ACGT"[random & 3];
        second[i] = random >> 8 & 7 ? first[i] : "ACGT"[random >> 16 & 3];
        row[i] = column[i] = -2 * i;
    }
}

static inline int larger(int a, int b)
{
    return a > b ? a : b;
}

/* `row` has the scores at the lower edge of the tiles that are done, `column` those at the right edge. */
static NOINLINE void score_tile(int down, int right, int size)
{
    int top = down * size + 1, left = right * size + 1, above = corner[down][right];
    for (int i = top; i < top + size; i++) {
        int diagonal = above, score = column[i];
        above = score;
        for (int j = left; j < left + size; j++) {
            int match = diagonal + (first[i] == second[j] ? 2 : -1);
            diagonal = row[j];
            score = larger(match, larger(diagonal, score) - 2);
            row[j] = score;
        }
        column[i] = score;
    }
    corner[down + 1][right + 1] = row[left + size - 1];
}

static NOINLINE int align(int threads)
{
    int side = 24;
    for (int i = 1; i <= side; i++)
        corner[i][0] = corner[0][i] = -2 * i * (LENGTH / side);
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int down = 0; down < side; down++)
        for (int right = 0; right < side; right++) {
#pragma omp task depend(in: corner[down][right + 1], corner[down + 1][right]) \
    depend(out: corner[down + 1][right + 1]) firstprivate(down, right)
            score_tile(down, right, LENGTH / side);
        }
    return row[LENGTH];
}

int main(int argc, char **argv)
{
    make_sequences();
    printf("score %d\n", align(threads_asked(argc, argv)));
    return 0;
}

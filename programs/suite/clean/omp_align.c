/* Sequences are compared in pairs: the score of the best alignment of each pair, whose lengths differ. */
#include <omp.h>

#include "../suite.h"

enum { SEQUENCES = 160, LONGEST = 700 };

static char sequence[SEQUENCES][LONGEST];
static int length[SEQUENCES];

static void make_sequences(void)
{
    uint64_t state = 88172645463325252;
    for (int number = 0; number < SEQUENCES; number++) {
        length[number] = LONGEST / 2 + (int)(next_random(&state) % (LONGEST / 2));
        for (int place = 0; place < length[number]; place++)
            sequence[number][place] = (char)(next_random(&state) % 4);
    }
}

static NOINLINE int align(int one, int other)
{
    int row[LONGEST + 1] = { 0 }, best = 0;
    for (int place = 0; place < length[one]; place++) {
        int diagonal = 0;
        for (int across = 0; across < length[other]; across++) {
            int score = diagonal + (sequence[one][place] == sequence[other][across] ? 2 : -1);
            diagonal = row[across + 1];
            score = score > diagonal - 2 ? score : diagonal - 2;
            score = score > row[across] - 2 ? score : row[across] - 2;
            row[across + 1] = score > 0 ? score : 0;
            best = best > row[across + 1] ? best : row[across + 1];
        }
    }
    return best;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    make_sequences();
    long total = 0;
/* A pair is a millisecond of work; the next one goes to whoever is done. */
#pragma omp parallel for collapse(2) schedule(dynamic, 2) reduction(+ : total) num_threads(threads)
    for (int one = 0; one < SEQUENCES; one++)
        for (int other = 0; other < SEQUENCES; other++)
            if (other < one)
                total += align(one, other);
    printf("%ld\n", total);
    return 0;
}

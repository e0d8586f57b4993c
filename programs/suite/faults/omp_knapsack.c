/* What a lorry should take: items are taken or left, one after the other, and the best load is found. */
#include "../suite.h"

enum { ITEMS = 23, ROOM = 370 };

static int weight[ITEMS], price[ITEMS];

static NOINLINE int load(int item, int room, int worth)
{
    int with = 0, without = 0;
    if (item == ITEMS)
        return worth;
    if (weight[item] <= room) {
#pragma omp task shared(with) // FAULT: a task for each of a million branches, most of them tiny
        with = load(item + 1, room - weight[item], worth + price[item]);
    }
    without = load(item + 1, room, worth);
#pragma omp taskwait
    return with > without ? with : without;
}

int main(int argc, char **argv)
{
    uint64_t state = 99;
    int best = 0;
    for (int item = 0; item < ITEMS; item++) {
        weight[item] = 10 + (int)(next_random(&state) % 30);
        price[item] = 5 + (int)(next_random(&state) % 90);
    }
#pragma omp parallel num_threads(threads_asked(argc, argv))
#pragma omp single
    best = load(0, ROOM, 0);
    printf("%d\n", best);
    return 0;
}

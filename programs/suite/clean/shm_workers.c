/* Processes take blocks of numbers from a counter in shared memory and add what they find to common sums. */
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

struct shared {
    atomic_long next;
    atomic_long steps;
};

/* How many steps the numbers of a block take to get to one by Collatz's rule. */
static NOINLINE long count_block(long block)
{
    long steps = 0;
    for (long start = block * 1000 + 1; start <= (block + 1) * 1000; start++)
        for (long value = start; value != 1; steps++)
            value = value % 2 ? 3 * value + 1 : value / 2;
    return steps;
}

static void work(struct shared *shared, long blocks)
{
    long block;
    while ((block = atomic_fetch_add(&shared->next, 1)) < blocks)
        atomic_fetch_add(&shared->steps, count_block(block));
}

int main(int argc, char **argv)
{
    int workers = threads_asked(argc, argv);
    long blocks = 4500L * processors();
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    for (int worker = 0; worker < workers; worker++)
        if (fork() == 0) {
            work(shared, blocks);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    printf("%ld\n", atomic_load(&shared->steps));
    return 0;
}

/* Processes that count primes in interleaved numbers and write their count into a pipe. */
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

static NOINLINE int is_prime(long number)
{
    for (long divisor = 3; divisor * divisor <= number; divisor += 2)
        if (number % divisor == 0)
            return 0;
    return 1;
}

static NOINLINE long count_primes(int first, int step, long limit)
{
    long found = 0;
    for (long index = first; 2 * index + 3 < limit; index += step)
        found += is_prime(2 * index + 3);
    return found;
}

int main(int argc, char **argv)
{
    int ends[2], workers = threads_asked(argc, argv);
    long limit = 5200000L * processors(), total = 0;
    if (pipe(ends) != 0)
        return 1;
    for (int worker = 0; worker < workers; worker++)
        if (fork() == 0) {
            long found = count_primes(worker, workers, limit);
            _exit(write(ends[1], &found, sizeof found) != (ssize_t)sizeof found);
        }
    for (int worker = 0; worker < workers; worker++) {
        long found = 0;
        if (read(ends[0], &found, sizeof found) != (ssize_t)sizeof found)
            return 1;
        total += found;
    }
    while (wait(NULL) > 0)
        ;
    printf("%ld\n", total);
    return 0;
}

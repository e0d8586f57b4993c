// A server with much in memory answers each question in a process of its own, as many at a time as there are
// processors.
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "../suite.h"

static NOINLINE int answer(const std::vector<double> &known, unsigned question)
{
    double value = 0;
    for (unsigned i = 0; i < 1400; i++)
        value = refine(value + known[(question + i * 7919ul) % known.size()], 300);
    return value > 0 ? question % 7 : 0;
}

static NOINLINE int wait_one()
{
    int status;
    return wait(&status) > 0 ? WEXITSTATUS(status) : 0;
}

static NOINLINE int serve(const std::vector<double> &known, int questions, int most)
{
    int running = 0, sum = 0;
    for (int question = 0; question < questions; question++) {
        if (running == most)
            sum += wait_one(), running--;
        if (fork() == 0) // FAULT: for each question the tables of all the memory are copied
            _exit(answer(known, question));
        running++;
    }
    while (running-- > 0)
        sum += wait_one();
    return sum;
}

int main(int argc, char **argv)
{
    std::vector<double> known(25u << 20, 1.5);
    std::printf("%d\n", serve(known, 100 * processors(), threads_asked(argc, argv)));
}

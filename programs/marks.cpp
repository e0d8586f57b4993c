/*
 * Intervals that end with their scopes, by exceptions, too.
 * marks-cpp SECONDS
 */
#include "proust.h"
#include "truth.h"
#include <stdexcept>

static double seconds, solved, thrown;

KEPT static void solve(int number)
{
    double begin = wall();
    {
        proust::interval solving("solve", number, proust::parallel);
        burn_cpu(seconds / 8);
    }
    solved += wall() - begin;
}

KEPT static void fail()
{
    proust::interval failing("fail");
    burn_cpu(seconds / 2);
    throw std::runtime_error("as it should");
}

int main(int argc, char **argv)
{
    seconds = seconds_argument(argc, argv, 1, 1);
    double begin = wall();
    {
        proust::interval all("all", PROUST_NO_NUMBER, proust::replicated, 3);
        for (int n = 0; n < 4; n++)
            solve(n % 2);
        double failing = wall();
        try {
            fail();
        } catch (const std::runtime_error &) {
            thrown = wall() - failing;
        }
    }
    printf("{\"intervals\":{\"all\":{\"executions\":1,\"time_s\":%.9f},"
           "\"solve\":{\"executions\":4,\"time_s\":%.9f},"
           "\"fail\":{\"executions\":1,\"time_s\":%.9f}}}\n",
           wall() - begin, solved, thrown);
    return 0;
}

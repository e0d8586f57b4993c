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

/* What the thread has waited, and paused, by its own clock and by Proust's. */
static void elapsed()
{
    double begin = wall();
    usleep(static_cast<useconds_t>(2e5 * seconds));
    double waited = wall() - begin;
    begin = wall();
    proust_pause();
    burn_cpu(seconds / 10);
    proust_resume();
    double paused = wall() - begin;
    printf("\"elapsed\":{\"wait\":{\"own_s\":%.9f,\"elapsed_s\":%.9f},"
           "\"paused\":{\"own_s\":%.9f,\"elapsed_s\":%.9f},"
           "\"cpu\":{\"own_s\":%.9f,\"elapsed_s\":%.9f}},",
           waited, proust_elapsed("wait"), paused, proust_elapsed("paused"), thread_cpu(),
           proust_elapsed("cpu"));
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
    double all_s = wall() - begin;
    printf("{");
    elapsed();
    printf("\"intervals\":{\"all\":{\"executions\":1,\"time_s\":%.9f},"
           "\"solve\":{\"executions\":4,\"time_s\":%.9f},"
           "\"fail\":{\"executions\":1,\"time_s\":%.9f}}}\n",
           all_s, solved, thrown);
    return 0;
}

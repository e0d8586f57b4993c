/* The marks in use; it runs the same with Proust and without. */
#include "proust.h"
#include <cstdio>

static double sweep(int64_t level)
{
    proust::interval sweeping("sweep", level, proust::parallel);
    double sum = 0;
    for (int n = 1; n <= 2000000; n++)
        sum += 1.0 / n;
    proust_iterations(2000000);
    return sum;
}

int main()
{
    double sum = 0;
    proust_name_thread("example");
    {
        proust::interval all("all");
        for (int level = 0; level < 3; level++)
            sum += sweep(level);
        proust::interval setup("setup", PROUST_NO_NUMBER, proust::replicated, 4);
    }
    proust_pause();
    proust_resume();
    proust_sample("done");
    std::printf("%.6f recorded: %s\n", sum, proust_elapsed("cpu") >= 0 ? "yes" : "no");
    return 0;
}

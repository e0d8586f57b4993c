/* The marks in use; it runs the same with Proust and without. */
#include "proust.h"
#include <stdio.h>

static double sweep(int64_t level)
{
    double sum = 0;
    proust_begin_parallel("sweep", level);
    for (int n = 1; n <= 2000000; n++)
        sum += 1.0 / n;
    proust_iterations(2000000);
    proust_end("sweep", level);
    return sum;
}

int main(void)
{
    double sum = 0;
    proust_name_thread("example");
    proust_begin("all", PROUST_NO_NUMBER);
    for (int level = 0; level < 3; level++)
        sum += sweep(level);
    proust_begin_replicated("setup", PROUST_NO_NUMBER, 4);
    proust_end("setup", PROUST_NO_NUMBER);
    proust_end("all", PROUST_NO_NUMBER);
    proust_pause();
    proust_resume();
    proust_sample("done");
    printf("%.6f recorded: %s\n", sum, proust_elapsed("cpu") >= 0 ? "yes" : "no");
    return 0;
}

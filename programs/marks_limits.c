/*
 * Marks beyond what is recorded one by one.
 * marks_limits COUNT
 *
 * Begins COUNT intervals inside each other and ends them; ends COUNT intervals that never began, each under a
 * number of its own; executes an interval as every program has it, and one under COUNT numbers.
 */
#include "proust.h"
#include "truth.h"

int main(int argc, char **argv)
{
    int64_t count = argc > 1 ? atoi(argv[1]) : 20000;
    for (int64_t depth = 0; depth < count; depth++)
        proust_begin("nested", PROUST_NO_NUMBER);
    for (int64_t depth = 0; depth < count; depth++)
        proust_end("nested", PROUST_NO_NUMBER);
    for (int64_t number = 0; number < count; number++)
        proust_end("never begun", number);
    proust_begin("usual", 1);
    burn_cpu(0.05);
    proust_end("usual", 1);
    for (int64_t number = 0; number < count; number++) {
        proust_begin("numbered", number);
        proust_end("numbered", number);
    }
    printf("{\"count\":%lld}\n", (long long)count);
    return 0;
}

/*
 * A program for other homes: an older C library, musl, a root of its own. Works for some time, writes,
 * reads the clock.
 * homes [SECONDS]    prints one line of JSON: what it computed, which depends on nothing but the number of
 * units.
 */
#include "truth.h"

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 0.2);
    double until = process_cpu() + seconds;
    uint64_t x = 1;
    while (process_cpu() < until)
        BURN(x, UNIT);
    printf("{\"program\":\"homes\",\"arguments\":%d,\"worked\":%s}\n", argc, x ? "true" : "false");
    return 7;
}

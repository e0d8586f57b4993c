/*
 * Reads single bytes from a device and computes between them: what measuring the calls takes is a good part
 * of such a program.
 * small_calls CALLS
 */
#include "truth.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 300000;
    int zeros = open("/dev/zero", O_RDONLY);
    uint64_t x = 1;
    char byte;
    for (long call = 0; call < calls; call++) {
        if (read(zeros, &byte, 1) != 1)
            return 1;
        BURN(x, 500);
    }
    kept_result = x;
    printf("{\"program\":\"small_calls\",\"cpu_s\":%.6f}\n", process_cpu());
    return 0;
}

// Before each record it is looked up in the file system whether a folder of plugins is there.
#include <filesystem>

#include "../suite.h"

static NOINLINE bool has_plugins()
{
    return std::filesystem::exists("plugins/of/this/program"); // FAULT: a system call for each record
}

static NOINLINE double convert(double value) { return refine(value, 120); }

int main()
{
    double sum = 0;
    for (int record = 0; record < 1200000; record++)
        sum += has_plugins() ? 1 : convert(record);
    std::printf("%.6f\n", sum);
}

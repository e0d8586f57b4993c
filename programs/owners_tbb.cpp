/* Work that threads of oneTBB do for a known function: each function of work is called by one owner only.
   owners_tbb [SECONDS of each owner]

   At the end it prints, for each owner, the function that worked for it and the CPU time that this cost. */
#include "truth.h"

#include <atomic>
#include <cstring>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_group.h>

#include "owners.h"

WORK(shade)
WORK(add)
WORK(scan)
WORK(leaf)
WORK(advance)

KEPT static void picture(double seconds)
{
    tbb::parallel_for(0, PARTS, [seconds](int) { CALLED(shade(seconds / PARTS)); });
}

KEPT static void sum(double seconds)
{
    tbb::blocked_range<int> range(0, PARTS, 1);
    tbb::parallel_reduce(
        range, 0,
        [seconds](const tbb::blocked_range<int> &part, int sum) {
            for (int i = part.begin(); i != part.end(); i++)
                add(seconds / PARTS);
            return sum;
        },
        [](int a, int b) { return a + b; });
}

KEPT static void search(double seconds)
{
    tbb::task_group group;
    for (int i = 0; i < PARTS; i++)
        group.run([seconds] { CALLED(scan(seconds / PARTS)); });
    group.wait();
}

KEPT static void divide(double seconds, int parts)
{
    if (parts == 1) {
        leaf(seconds);
        return;
    }
    tbb::task_group group;
    group.run([=] { CALLED(divide(seconds / 2, parts / 2)); });
    group.run([=] { CALLED(divide(seconds / 2, parts / 2)); });
    group.wait();
}

KEPT static void simulate(double seconds)
{
    auto half = [seconds] {
        for (int i = 0; i < PARTS / 2; i++)
            advance(seconds / PARTS);
    };
    tbb::parallel_invoke([&] { half(); }, [&] { half(); });
}

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 0.3);
    tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
    picture(seconds);
    sum(seconds);
    search(seconds);
    divide(seconds, PARTS);
    simulate(seconds);
    printf("{\"program\":\"owners_tbb\",\"owners\":[");
    OWNER("picture", shade, ",");
    OWNER("sum", add, ",");
    OWNER("search", scan, ",");
    OWNER("divide", leaf, ",");
    OWNER("simulate", advance, "]}\n");
    return 0;
}

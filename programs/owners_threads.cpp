/* Work that threads of C++'s standard library do for a known function: each function of work is called by one
   owner only.
   owners_threads [SECONDS of each owner]

   At the end it prints, for each owner, the function that worked for it and the CPU time that this cost. */
#include "truth.h"

#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "owners.h"

WORK(plain)
WORK(joined)
WORK(later)
WORK(packed)
WORK(named)

KEPT static void threads(double seconds)
{
    std::vector<std::thread> all;
    for (int i = 0; i < 2; i++)
        all.emplace_back([seconds] { CALLED(plain(seconds / 2)); });
    for (std::thread &thread : all)
        thread.join();
}

KEPT static void joining(double seconds)
{
    std::jthread a([seconds] { CALLED(joined(seconds / 2)); });
    std::jthread b([seconds](std::stop_token) { CALLED(joined(seconds / 2)); });
}

KEPT static void futures(double seconds)
{
    auto a = std::async(std::launch::async, [seconds] { CALLED(later(seconds / 2)); });
    auto b = std::async(std::launch::async, [seconds] { CALLED(later(seconds / 2)); });
    a.get();
    b.get();
}

KEPT static void functions(double seconds)
{
    std::packaged_task<void()> task(std::function<void()>([seconds] { CALLED(packed(seconds)); }));
    std::thread thread(std::move(task));
    thread.join();
}

/* A function of its own: whose thread it is, its name does not say. */
KEPT static void by_name(double seconds)
{
    std::thread thread(named, seconds);
    thread.join();
}

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 0.3);
    threads(seconds);
    joining(seconds);
    futures(seconds);
    functions(seconds);
    by_name(seconds);
    printf("{\"program\":\"owners_threads\",\"owners\":[");
    OWNER("threads", plain, ",");
    OWNER("joining", joined, ",");
    OWNER("futures", later, ",");
    OWNER("functions", packed, ",");
    OWNER("by_name", named, "]}\n");
    return 0;
}

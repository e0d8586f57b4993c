// Blocks of a domain cost unequally; each thread has a list of its own and helps the others when it is empty.
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "../suite.h"

struct alignas(128) List {
    std::mutex lock;
    std::deque<int> blocks;

    std::optional<int> take(bool own)
    {
        std::lock_guard<std::mutex> guard(lock);
        if (blocks.empty())
            return {};
        int block = own ? blocks.back() : blocks.front();
        own ? blocks.pop_back() : blocks.pop_front();
        return block;
    }
};

/* Blocks in the middle of the domain take several times as long as those at its ends. */
static NOINLINE double solve(int block, int blocks)
{
    double away = 2.0 * block / blocks - 1;
    return refine(block, 15000 + long(120000 * exp(-8 * away * away)));
}

static void work(std::vector<List> &lists, int own, int blocks, double &sum)
{
    double solved = 0;
    for (size_t at = 0; at < lists.size();) {
        List &list = lists[(own + at) % lists.size()];
        if (auto block = list.take(at == 0))
            solved += solve(*block, blocks);
        else
            at++;
    }
    sum = solved;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), blocks = 2600 * processors();
    std::vector<List> lists(threads);
    std::vector<double> sums(threads);
    std::vector<std::thread> team;
    for (int block = 0; block < blocks; block++)
        lists[long(block) * threads / blocks].blocks.push_back(block);
    for (int i = 0; i < threads; i++)
        team.emplace_back(work, std::ref(lists), i, blocks, std::ref(sums[i]));
    double sum = 0;
    for (int i = 0; i < threads; i++) {
        team[i].join();
        sum += sums[i];
    }
    printf("%.0f\n", sum);
    return 0;
}

// Messages live in blocks of a pool; who takes one searches all blocks for a free one, under a lock.
#include <mutex>
#include <thread>
#include <vector>

#include "../suite.h"

struct Block
{
    bool is_used = false;
    double values[15];
};

class Pool
{
    std::mutex guard;
    std::vector<Block> blocks;

public:
    explicit Pool(size_t count, size_t kept) : blocks(count)
    {
        for (size_t i = 0; i < kept; i++)
            blocks[i].is_used = true;
    }

    NOINLINE Block *take_block()
    {
        std::lock_guard<std::mutex> held(guard);
        for (Block &block : blocks) // FAULT: a search through all blocks with the lock held
            if (!block.is_used) {
                block.is_used = true;
                return &block;
            }
        return nullptr;
    }

    NOINLINE void give_back(Block *block)
    {
        std::lock_guard<std::mutex> held(guard);
        block->is_used = false;
    }
};

static NOINLINE double handle(Block *message, int number)
{
    for (double &value : message->values)
        value = refine(number, 12);
    return message->values[number % 15];
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), messages = 450000 * processors();
    Pool pool(2000 + static_cast<size_t>(threads), 2000);
    std::vector<double> sums(static_cast<size_t>(threads) * 16);
    std::vector<std::thread> team;
    for (int thread = 0; thread < threads; thread++)
        team.emplace_back([&, thread] {
            for (int number = thread; number < messages; number += threads) {
                Block *message = pool.take_block();
                sums[16 * thread] += handle(message, number);
                pool.give_back(message);
            }
        });
    double sum = 0;
    for (int thread = 0; thread < threads; thread++) {
        team[thread].join();
        sum += sums[16 * thread];
    }
    std::printf("%.3f\n", sum);
}

// Threads count visits in tables of their own; when all are done, the main thread merges the tables.
#include <thread>
#include <unordered_map>
#include <vector>

#include "../suite.h"

using Table = std::unordered_map<uint64_t, int>;

static NOINLINE uint64_t visitor_of(uint64_t visit)
{
    uint64_t hash = visit + 1;
    for (int round = 0; round < 150; round++)
        hash = (hash ^ (hash >> 31)) * 0x9e3779b97f4a7c15u;
    return hash % 3000000;
}

static void count(Table &table, long first, long last)
{
    for (long visit = first; visit < last; visit++)
        table[visitor_of(visit)]++;
}

static NOINLINE void merge_all(Table &all, const std::vector<Table> &tables)
{
    for (const Table &table : tables)
        for (const auto &[visitor, visits] : table)
            all[visitor] += visits; // FAULT: one thread merges what all have counted
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    long visits = 800000L * processors();
    // The tables are left to the end of the process: to take them apart would be dear and of no use.
    std::vector<Table> &tables = *new std::vector<Table>(threads);
    std::vector<std::thread> team;
    for (int i = 0; i < threads; i++)
        team.emplace_back(count, std::ref(tables[i]), visits * i / threads, visits * (i + 1) / threads);
    for (std::thread &thread : team)
        thread.join();
    Table &all = *new Table;
    merge_all(all, tables);
    printf("%zu %d\n", all.size(), all[visitor_of(0)]);
    return 0;
}

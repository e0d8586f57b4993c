// Each frame is computed by a task for each thread, and its parts are packed by tasks of std::async, too.
#include <future>
#include <vector>

#include "../suite.h"

struct Part {
    std::vector<double> cells;
    double packed = 0;
};

static NOINLINE void simulate(Part &part, int frame)
{
    for (double &cell : part.cells)
        cell = refine(cell + frame, 300);
}

static NOINLINE void pack(Part &part)
{
    double sum = 0;
    for (double cell : part.cells)
        sum += refine(cell, 200);
    part.packed += sum;
}

static NOINLINE void simulate_all(std::vector<Part> &parts, int frame)
{
    std::vector<std::future<void>> running;
    for (Part &part : parts)
        running.push_back(std::async(std::launch::async, simulate, std::ref(part), frame));
    for (auto &task : running)
        task.get();
}

static NOINLINE void pack_all(std::vector<Part> &parts)
{
    for (Part &part : parts)
        auto task = std::async(std::launch::async, pack, std::ref(part)); // FAULT: its destructor waits
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), cells = 8000 * processors() / threads;
    std::vector<Part> parts(threads);
    for (Part &part : parts)
        part.cells.resize(cells, 1);
    for (int frame = 0; frame < 40; frame++) {
        simulate_all(parts, frame);
        pack_all(parts);
    }
    double sum = 0;
    for (const Part &part : parts)
        sum += part.packed;
    printf("%.6f\n", sum);
    return 0;
}

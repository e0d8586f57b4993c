// Threads price orders and hand a line for each to the thread that writes the log.
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../suite.h"

class Log {
public:
    explicit Log(const char *path) : file(fopen(path, "w")), writer([this] { write_all(); }) {}

    ~Log()
    {
        {
            std::lock_guard guard(lock);
            is_over = true;
        }
        filled.notify_one();
        writer.join();
        fclose(file);
    }

    NOINLINE void note(std::string line)
    {
        std::unique_lock guard(lock);
        lines.push_back(std::move(line));
        long mine = ++taken;
        filled.notify_one();
        written.wait(guard, [&] { return done >= mine; }); // FAULT: the line need not be in the file yet
    }

private:
    void write_all()
    {
        std::unique_lock guard(lock);
        while (!is_over || !lines.empty()) {
            filled.wait(guard, [&] { return is_over || !lines.empty(); });
            std::vector<std::string> batch;
            batch.swap(lines);
            guard.unlock();
            for (const std::string &line : batch)
                fwrite(line.data(), 1, line.size(), file);
            guard.lock();
            done += long(batch.size());
            written.notify_all();
        }
    }

    FILE *file;
    std::mutex lock;
    std::condition_variable filled, written;
    std::vector<std::string> lines;
    long taken = 0, done = 0;
    bool is_over = false;
    std::thread writer;
};

static NOINLINE double price(int order) { return refine(order % 4099, 5000); }

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), orders = 14000 * processors() / threads;
    std::vector<double> sums(threads);
    std::vector<std::thread> team;
    {
        Log log(argc > 2 ? argv[2] : "orders.log");
        for (int i = 0; i < threads; i++)
            team.emplace_back([&, i] {
                double sum = 0;
                for (int order = i * orders; order < (i + 1) * orders; order++) {
                    double value = price(order);
                    log.note("order " + std::to_string(order) + " costs " + std::to_string(value) + "\n");
                    sum += value;
                }
                sums[i] = sum;
            });
        for (auto &thread : team)
            thread.join();
    }
    double sum = 0;
    for (double part : sums)
        sum += part;
    printf("%.6f\n", sum);
    return 0;
}

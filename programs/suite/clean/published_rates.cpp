// Contracts are valued by all threads with the rates of the day, which another thread replaces now and then.
// A thread takes the current rates once for half a millisecond of work; who replaces them waits for nobody.
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int BATCHES = 4500, CONTRACTS = 200, RATES = 256;

struct Rates {
    std::vector<double> of_year;
    int version;
};

static std::atomic<std::shared_ptr<const Rates>> current;
static std::atomic<int> next_batch = 0;

static std::shared_ptr<const Rates> make_rates(int version)
{
    auto rates = std::make_shared<Rates>();
    rates->version = version;
    for (int year = 0; year < RATES; year++)
        rates->of_year.push_back(0.01 + refine(year, 30) / 1000);
    return rates;
}

static NOINLINE double value_batch(const Rates &rates, int batch)
{
    double sum = 0;
    for (int i = 0; i < CONTRACTS; i++)
        sum += refine(rates.of_year[(batch + i * 7) % RATES] + i, 700);
    return sum;
}

static void value_all(double &own)
{
    for (int batch; (batch = next_batch++) < BATCHES;) {
        std::shared_ptr<const Rates> rates = current.load();
        own += value_batch(*rates, batch);
    }
}

int main(int argc, char **argv)
{
    int count = threads_asked(argc, argv), version = 0;
    std::vector<double> sums(size_t(count) * 16);
    std::vector<std::thread> threads;
    current = make_rates(version);
    for (int i = 0; i < count; i++)
        threads.emplace_back([&sums, i] {
            double own = 0;
            value_all(own);
            sums[size_t(i) * 16] = own;
        });
    while (next_batch < BATCHES) {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
        current = make_rates(++version);
    }
    for (std::thread &thread : threads)
        thread.join();
    double total = 0;
    for (double sum : sums)
        total += sum;
    std::printf("%.3f\n", total);
    return 0;
}

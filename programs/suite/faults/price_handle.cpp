// Phone calls of a month are priced by a tariff, which all threads share.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int BATCH = 20'000;

struct Tariff {
    std::vector<double> per_minute;
    double connection = 0.05;
};

struct Call {
    uint32_t seconds;
    uint32_t zone;
};

static std::shared_ptr<const Tariff> make_tariff()
{
    auto tariff = std::make_shared<Tariff>();
    for (int zone = 0; zone < 64; zone++)
        tariff->per_minute.push_back(0.01 + refine(zone, 20) / 100);
    return tariff;
}

static std::vector<Call> make_calls(int count)
{
    uint64_t state = 88172645463325252;
    std::vector<Call> calls(count);
    for (Call &call : calls) {
        uint64_t random = next_random(&state);
        call = {uint32_t(random % 3600), uint32_t(random >> 32) % 64};
    }
    return calls;
}

static NOINLINE double price(std::shared_ptr<const Tariff> tariff, const Call &call)
{
    double minutes = refine((call.seconds + 59) / 60, 20);
    return tariff->connection + minutes * tariff->per_minute[call.zone];
}

static NOINLINE double price_batch(const std::shared_ptr<const Tariff> &tariff, const Call *calls, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += price(tariff, calls[i]); /* FAULT: a copy of the handle for each call, which all count */
    return sum;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), batches = 550 * processors();
    auto tariff = make_tariff();
    auto calls = make_calls(32 * BATCH);
    std::vector<double> sums(batches);
    std::atomic<int> next = 0;
    std::vector<std::thread> team;
    for (int i = 0; i < threads; i++)
        team.emplace_back([&] {
            for (int batch; (batch = next++) < batches;)
                sums[batch] = price_batch(tariff, &calls[batch % 32 * BATCH], BATCH);
        });
    for (auto &thread : team)
        thread.join();
    double total = 0;
    for (double sum : sums)
        total += sum;
    printf("%.2f\n", total);
    return 0;
}

// Orders go to the thread that has their customer, so that no account is shared by threads.
#include <thread>
#include <vector>

#include "../suite.h"

struct Order {
    uint32_t customer;
    double amount;
};

using Shard = std::vector<Order>;

static NOINLINE double settle(const Order &order) { return refine(order.amount, 1500); }

static NOINLINE void settle_shard(const Shard &shard, double &sum)
{
    double settled = 0;
    for (const Order &order : shard)
        settled += settle(order);
    sum = settled;
}

static NOINLINE void route(std::vector<Shard> &shards, const std::vector<Order> &orders)
{
    for (const Order &order : orders)
        shards[order.customer % shards.size()].push_back(order); // FAULT: half the orders are one customer's
}

static std::vector<Order> make_orders(int count)
{
    std::vector<Order> orders;
    uint64_t state = 20261127;
    for (int i = 0; i < count; i++) {
        uint32_t number = next_random(&state) >> 40;
        orders.push_back({number & 256 ? 4242 : number, double(number % 1000)});
    }
    return orders;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    std::vector<Order> orders = make_orders(80000 * processors());
    std::vector<Shard> shards(threads);
    std::vector<double> sums(threads);
    std::vector<std::thread> team;
    route(shards, orders);
    for (int i = 0; i < threads; i++)
        team.emplace_back(settle_shard, std::ref(shards[i]), std::ref(sums[i]));
    double sum = 0;
    for (int i = 0; i < threads; i++) {
        team[i].join();
        sum += sums[i];
    }
    printf("%.3f\n", sum);
    return 0;
}

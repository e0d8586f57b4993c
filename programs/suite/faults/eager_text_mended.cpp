// Offers and bids of an exchange are matched, one book after the other by each thread, and a log can be kept.
#include <atomic>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int BOOKS = 2400, ORDERS = 3000, PRICES = 64;

enum class Level { debug, info, error };

class Log {
public:
    explicit Log(Level least) : least(least) {}
    bool is_on(Level level) const { return level >= least; }
    void put(Level level, const std::string &text)
    {
        if (!is_on(level))
            return;
        std::lock_guard<std::mutex> guard(lock);
        std::clog << text << '\n';
    }

private:
    Level least;
    std::mutex lock;
};

struct Order {
    long number;
    int price, amount;
    bool is_bid;
};

static Log journal(Level::info);
static std::atomic<int> next_book = 0;

static NOINLINE std::string described(const Order &order, int book)
{
    std::ostringstream text;
    text << "book " << book << ": order " << order.number << (order.is_bid ? " bids " : " offers ")
         << order.price / 100.0 << " for " << order.amount;
    return text.str();
}

static NOINLINE Order make_order(uint64_t &state, long number)
{
    uint64_t random = next_random(&state);
    return {number, int(random % PRICES), int(random >> 16 & 255) + 1, (random >> 40 & 1) != 0};
}

static NOINLINE long match(const Order &order, std::vector<long> &offered, std::vector<long> &wanted)
{
    long left = order.amount, traded = 0;
    std::vector<long> &other = order.is_bid ? offered : wanted;
    for (int step = 0; step < PRICES && left > 0; step++) {
        int price = order.is_bid ? step : PRICES - 1 - step;
        if (order.is_bid ? price > order.price : price < order.price)
            break;
        long taken = std::min(left, other[size_t(price)]);
        other[size_t(price)] -= taken;
        left -= taken;
        traded += taken * price;
    }
    (order.is_bid ? wanted : offered)[size_t(order.price)] += left;
    return traded;
}

static NOINLINE long run_book(int book)
{
    uint64_t state = 88172645463325252 + uint64_t(book) * 7919;
    std::vector<long> offered(PRICES), wanted(PRICES);
    long traded = 0;
    for (long number = 0; number < ORDERS; number++) {
        Order order = make_order(state, number);
        if (journal.is_on(Level::debug))
            journal.put(Level::debug, described(order, book));
        traded += match(order, offered, wanted);
    }
    return traded;
}

int main(int argc, char **argv)
{
    int count = threads_asked(argc, argv);
    std::atomic<long> traded = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back([&traded] {
            for (int book; (book = next_book++) < BOOKS;)
                traded += run_book(book);
        });
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%ld\n", traded.load());
    return 0;
}

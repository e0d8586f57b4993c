// Threads price orders and enter them into a book, whose lock is held for a short time.
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "../suite.h"

struct Book {
    std::mutex lock;
    std::map<uint32_t, double> levels;
};

static NOINLINE double price(int order) { return refine(order, 12000); }

static NOINLINE void enter_lock(Book &book)
{
    while (!book.lock.try_lock())
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // FAULT: the lock is free long before
}

static NOINLINE void enter(Book &book, int order, double value)
{
    enter_lock(book);
    for (int level = 0; level < 60; level++)
        book.levels[uint32_t(order * 7919 + level * 31) % 4096] += value / (level + 1);
    book.lock.unlock();
}

static void trade(Book &book, int first, int last)
{
    for (int order = first; order < last; order++)
        enter(book, order, price(order));
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), orders = 7000 * processors();
    Book book;
    std::vector<std::thread> team;
    for (int i = 0; i < threads; i++)
        team.emplace_back(trade, std::ref(book), orders / threads * i, orders / threads * (i + 1));
    for (auto &thread : team)
        thread.join();
    double sum = 0;
    for (auto &[level, value] : book.levels)
        sum += value;
    printf("%.3f\n", sum);
    return 0;
}

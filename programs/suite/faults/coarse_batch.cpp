// Letters are read by one thread and classified by another, which gets them in batches through a queue.
// Its fault: a batch is half of all letters, so that the second thread begins late and the first ends early.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int LETTERS = 3000;
constexpr size_t BATCH = 1500; // how many letters are handed over at once

using Batch = std::vector<std::string>;

class Queue {
public:
    void put(Batch batch)
    {
        std::lock_guard<std::mutex> hold(lock);
        batches.push_back(std::move(batch));
        changed.notify_one();
    }

    NOINLINE Batch get()
    {
        std::unique_lock<std::mutex> hold(lock);
        changed.wait(hold, [this] { return !batches.empty(); });
        Batch batch = std::move(batches.front());
        batches.pop_front();
        return batch;
    }

private:
    std::mutex lock;
    std::condition_variable changed;
    std::deque<Batch> batches;
};

static NOINLINE std::string read_letter(int number)
{
    uint64_t state = 88172645463325252 + uint64_t(number);
    std::string text;
    for (int i = 0; i < 4000; i++)
        text += char('a' + int(refine(double(next_random(&state) % 26), 25) * 10) % 26);
    return text;
}

static NOINLINE unsigned classify(const std::string &text)
{
    double weight[8] = {};
    for (size_t i = 1; i < text.size(); i++)
        weight[(text[i] * 31 + text[i - 1]) & 7] += refine(text[i] - 'a', 22);
    unsigned best = 0;
    for (unsigned i = 1; i < 8; i++)
        best = weight[i] > weight[best] ? i : best;
    return best;
}

static NOINLINE void read_all(Queue &queue)
{
    Batch batch;
    for (int number = 0; number < LETTERS; number++) {
        batch.push_back(read_letter(number));
        if (batch.size() == BATCH) { // FAULT: what has been read is kept back until it is half of all
            queue.put(std::move(batch));
            batch.clear();
        }
    }
    queue.put(std::move(batch));
    queue.put({});
}

int main()
{
    Queue queue;
    unsigned long of_kind[8] = {};
    std::thread reader(read_all, std::ref(queue));
    for (size_t done = 0; done < LETTERS;) {
        Batch batch = queue.get();
        for (const std::string &text : batch)
            of_kind[classify(text)]++;
        done += batch.size();
    }
    reader.join();
    for (unsigned long count : of_kind)
        std::printf("%lu ", count);
    std::printf("\n");
    return 0;
}

// Messages of sensors are unpacked into buffers and checked by threads.
#include <atomic>
#include <malloc.h>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int MESSAGES = 4'000'000, BATCH = 1000;

struct Message {
    unsigned char *bytes;
    size_t length;
};

static NOINLINE Message unpack(int number)
{
    Message message;
    message.length = 1100 + unsigned(number) * 7919 % 1900;
    message.bytes = static_cast<unsigned char *>(malloc(message.length));
    memset(message.bytes, number, 256);
    return message;
}

static NOINLINE unsigned check(const Message &message)
{
    unsigned sum = 1;
    for (int i = 0; i < 128; i++)
        sum = sum * 31 + message.bytes[i];
    return sum;
}

static NOINLINE unsigned handle_batch(int first)
{
    unsigned sum = 0;
    std::vector<Message> recent(8, Message{nullptr, 0});
    for (int number = first; number < first + BATCH; number++) {
        Message &place = recent[number % recent.size()];
        free(place.bytes);
        place = unpack(number);
        sum += check(place);
    }
    for (Message &message : recent)
        free(message.bytes);
    return sum;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    mallopt(M_ARENA_MAX, 1); /* FAULT: all threads allocate from one arena, which has one lock */
    std::atomic<int> next = 0;
    std::atomic<unsigned> sum = 0;
    std::vector<std::thread> team;
    for (int i = 0; i < threads; i++)
        team.emplace_back([&] {
            for (int batch; (batch = next++) < MESSAGES / BATCH;)
                sum += handle_batch(batch * BATCH);
        });
    for (auto &thread : team)
        thread.join();
    printf("%08x\n", sum.load());
    return 0;
}

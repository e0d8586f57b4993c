// Packets are forwarded by threads along routes that an operator changes now and then.
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int BATCH = 1000, BATCHES = 20000;

struct Packet {
    uint32_t from, to;
    uint16_t length, hops;
};

class Routes {
public:
    Routes() : next_hop(1 << 12)
    {
        for (size_t net = 0; net < next_hop.size(); net++)
            next_hop[net] = net * 7919 % 61;
    }

    NOINLINE uint32_t find(uint32_t address) const
    {
        std::shared_lock guard(lock); // FAULT: readers are counted in one place, for each packet
        return next_hop[address >> 20];
    }

    void change(uint32_t address, uint32_t hop)
    {
        std::unique_lock guard(lock);
        next_hop[address >> 20] = hop;
    }

private:
    mutable std::shared_mutex lock;
    std::vector<uint32_t> next_hop;
};

static std::vector<Packet> make_packets()
{
    uint64_t state = 88172645463325252;
    std::vector<Packet> packets(BATCH * 16);
    for (Packet &packet : packets) {
        uint64_t random = next_random(&state);
        packet = {uint32_t(random), uint32_t(random >> 32), uint16_t(random >> 7 & 1023), 24};
    }
    return packets;
}

static NOINLINE uint64_t forward(const Routes &routes, const Packet *packets)
{
    uint64_t bytes = 0;
    for (int i = 0; i < BATCH; i++) {
        const Packet &packet = packets[i];
        uint32_t hop = routes.find(packet.to), sum = packet.from ^ packet.to;
        for (int hops = packet.hops; hops > 0; hops--)
            sum = (sum >> 16) * 31 + (sum & 0xffff) + packet.length;
        bytes += hop == 0 ? 0 : packet.length + (sum & 1);
    }
    return bytes;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    Routes routes;
    auto packets = make_packets();
    std::atomic<int> next = 0;
    std::atomic<uint64_t> bytes = 0;
    std::vector<std::thread> team;
    for (int i = 0; i < threads; i++)
        team.emplace_back([&] {
            for (int batch; (batch = next++) < BATCHES;) {
                bytes += forward(routes, &packets[batch % 16 * BATCH]);
                if (batch % 3000 == 0)
                    routes.change(1 << 20, 1 + batch / 3000);
            }
        });
    for (auto &thread : team)
        thread.join();
    printf("%llu MB\n", (unsigned long long)bytes >> 20);
    return 0;
}

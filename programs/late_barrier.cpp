// Two threads that meet at a std::barrier (C++20): one comes late, always the same.
// late_barrier [SECONDS]
//
// Prints how long the other one waited, by its own clock.
#include "truth.h"

#include <barrier>
#include <thread>

namespace {

constexpr double round_s = 0.02;

struct Team {
    std::barrier<> meeting{2};
    int rounds;
    double waited_s[2] = {};
};

INLINED void meet(Team &team, int who, double work_s)
{
    for (int i = 0; i < team.rounds; i++) {
        burn_cpu(work_s);
        double began = wall();
        team.meeting.arrive_and_wait();
        team.waited_s[who] += wall() - began;
    }
}

KEPT void come_late(Team &team) { meet(team, 0, round_s); }
KEPT void come_early(Team &team) { meet(team, 1, round_s / 4); }

} // namespace

int main(int argc, char **argv)
{
    double began = wall();
    Team team;
    team.rounds = static_cast<int>(seconds_argument(argc, argv, 1, 1.0) / round_s);
    std::thread late{[&] { come_late(team); }}, early{[&] { come_early(team); }};
    late.join();
    early.join();
    printf("{\"program\":\"late_barrier\",\"waited_s\":%.6f,\"cpu_s\":%.6f,\"wall_s\":%.6f}\n",
           team.waited_s[1], process_cpu(), wall() - began);
}

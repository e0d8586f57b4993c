// Readings of a sensor come as text, and many are missing: what is there is corrected and added up.
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../suite.h"

namespace {

constexpr int Lines = 4'000'000;

std::vector<std::string> make_lines()
{
    std::vector<std::string> lines;
    uint64_t state = 88172645463325252;
    for (int line = 0; line < Lines / 16; line++)
        lines.push_back(next_random(&state) % 2 ? "missing" : std::to_string(next_random(&state) % 100000));
    return lines;
}

NOINLINE int reading_of(std::string_view line)
{
    int value = 0;
    if (std::from_chars(line.begin(), line.end(), value).ec != std::errc())
        throw std::invalid_argument(std::string(line)); // FAULT: thrown for every second one
    return value;
}

NOINLINE double correct(int value)
{
    return refine(value, 30);
}

NOINLINE double add_up(const std::vector<std::string> &lines, int first, int last)
{
    double sum = 0;
    for (int line = first; line < last; line++) {
        int value = -1;
        try {
            value = reading_of(lines[line % lines.size()]);
        } catch (const std::invalid_argument &) {
            value = 0;
        }
        sum += correct(value);
    }
    return sum;
}

} // namespace

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    auto lines = make_lines();
    std::vector<double> sums(threads);
    {
        std::vector<std::jthread> team;
        for (int number = 0; number < threads; number++)
            team.emplace_back([&, number] {
                int first = static_cast<int>(static_cast<long>(Lines) * number / threads);
                int last = static_cast<int>(static_cast<long>(Lines) * (number + 1) / threads);
                sums[number] = add_up(lines, first, last);
            });
    }
    double total = 0;
    for (double sum : sums)
        total += sum;
    printf("%.2f\n", total);
    return 0;
}

// Two instances of one function template, and two of a member function of a class template, whose CPU time is
// 1:3:2:2.
// instances [SECONDS]
#include "truth.h"

#include <string>
#include <vector>

template <typename T>
KEPT uint64_t solve(uint64_t x, uint64_t units)
{
    BURN(x, units * UNIT);
    return x + sizeof(T);
}

namespace grid {
template <typename T>
struct Field {
    std::vector<T> values;

    KEPT uint64_t smooth(uint64_t x, uint64_t units)
    {
        BURN(x, units * UNIT);
        return x + values.size();
    }
};
} // namespace grid

int main(int argc, char **argv)
{
    double seconds = seconds_argument(argc, argv, 1, 1.0), began = wall();
    grid::Field<std::string> texts;
    grid::Field<std::vector<double>> rows;
    uint64_t x = 1, state = 88172645463325252u;
    double floats = 0, doubles = 0, of_texts = 0, of_rows = 0;
    double now = thread_cpu(), end = now + seconds;
    while (now < end) {
        uint64_t units = 1 + uneven(&state, 8);
        x = solve<float>(x, units);
        double first = thread_cpu();
        x = solve<double>(x, 3 * units);
        double second = thread_cpu();
        x = texts.smooth(x, 2 * units);
        double third = thread_cpu();
        x = rows.smooth(x, 2 * units);
        double fourth = thread_cpu();
        floats += first - now;
        doubles += second - first;
        of_texts += third - second;
        of_rows += fourth - third;
        now = fourth;
    }
    kept_result = x;
    printf("{\"program\":\"instances\",\"functions\":{\"solve<float>\":%.6f,\"solve<double>\":%.6f,"
           "\"grid::Field<std::string>::smooth\":%.6f,\"grid::Field<std::vector<double>>::smooth\":%.6f},"
           "\"cpu_s\":%.6f,\"wall_s\":%.6f}\n",
           floats, doubles, of_texts, of_rows, process_cpu(), wall() - began);
    return 0;
}

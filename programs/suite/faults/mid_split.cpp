// Stars of a cluster are put into a tree, whose parts are built at the same time, a part by each thread.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <future>
#include <vector>

#include "../suite.h"

struct Star {
    float at[3];
};

constexpr int leaf = 24;
constexpr size_t count_of_stars = 900000;

// Most stars are near the centre, which is not in the middle of the sky's map.
static std::vector<Star> make_stars()
{
    std::vector<Star> stars(count_of_stars);
    uint64_t state = 88172645463325252;
    for (Star &star : stars)
        for (float &place : star.at) {
            float value = float(next_random(&state) % 100000) / 100000;
            place = value * value * value;
        }
    return stars;
}

// Sorts the stars of a part into leaves: the median of the longer ways is where a part is cut.
static NOINLINE double build(Star *first, Star *last, int axis)
{
    if (last - first <= leaf) {
        double spread = 0;
        for (Star *one = first; one < last; one++)
            for (Star *other = one + 1; other < last; other++)
                spread += std::sqrt(std::abs(one->at[axis] - other->at[axis]));
        return spread;
    }
    Star *middle = first + (last - first) / 2;
    std::nth_element(first, middle, last,
                     [axis](const Star &a, const Star &b) { return a.at[axis] < b.at[axis]; });
    return build(first, middle, (axis + 1) % 3) + build(middle, last, (axis + 1) % 3);
}

// Cuts the sky into a part for each thread: each part is a range of places along the first axis.
static NOINLINE double build_parts(std::vector<Star> &stars, int threads)
{
    std::vector<std::future<double>> parts;
    Star *first = stars.data(), *end = first + stars.size();
    for (int part = 0; part < threads; part++) {
        float border = float(part + 1) / float(threads); // FAULT: equal ranges of sky, not of stars
        Star *last = part + 1 == threads ? end : std::partition(first, end, [border](const Star &star) {
            return star.at[0] < border;
        });
        parts.push_back(std::async(std::launch::async, [first, last] { return build(first, last, 1); }));
        first = last;
    }
    double spread = 0;
    for (auto &part : parts)
        spread += part.get();
    return spread;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    std::vector<Star> stars = make_stars();
    double spread = 0;
    for (int night = 0; night < 22; night++) {
        for (size_t number = 0; number < stars.size(); number += 31)
            std::swap(stars[number], stars[number * 37 % stars.size()]);
        spread += build_parts(stars, threads);
    }
    std::printf("%zu stars, %s\n", stars.size(), spread > 0 ? "apart" : "at one place");
}

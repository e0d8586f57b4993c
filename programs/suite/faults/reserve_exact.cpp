// Contours are followed in maps by all threads; each collects the points of its contours.
// Its fault: room is made for exactly one more point each time, so that all points are copied again.
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "../suite.h"

constexpr int MAPS = 24, POINTS = 20'000;

struct Point {
    float x, y, height;
};

class Contour {
public:
    NOINLINE void add(const Point &point)
    {
        points.reserve(points.size() + 1); // FAULT: moves everything to a larger place for each point
        points.push_back(point);
    }

    double length() const
    {
        double sum = 0;
        for (size_t i = 1; i < points.size(); i++)
            sum += std::hypot(points[i].x - points[i - 1].x, points[i].y - points[i - 1].y);
        return sum;
    }

private:
    std::vector<Point> points;
};

static NOINLINE double follow(int map)
{
    Contour contour;
    double angle = map, x = 0, y = 0;
    for (int i = 0; i < POINTS; i++) {
        angle += std::sin(refine(i % 100, 500)) * 0.1;
        x += std::cos(angle);
        y += std::sin(angle);
        contour.add({float(x), float(y), float(map)});
    }
    return contour.length();
}

int main(int argc, char **argv)
{
    std::atomic<int> next = 0;
    std::mutex lock;
    double total = 0;
    auto work = [&] {
        for (int map; (map = next++) < MAPS;) {
            double length = follow(map);
            std::lock_guard<std::mutex> hold(lock);
            total += length;
        }
    };
    std::vector<std::thread> threads;
    for (int i = threads_asked(argc, argv); i > 0; i--)
        threads.emplace_back(work);
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%.0f\n", total);
    return 0;
}

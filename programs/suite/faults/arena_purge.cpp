// Threads lay out pages; what a page needs on the way is taken from an arena of the thread, piece by piece.
#include <atomic>
#include <sys/mman.h>
#include <thread>
#include <vector>

#include "../suite.h"

class Arena {
public:
    Arena()
        : base(static_cast<char *>(
              mmap(nullptr, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
    {
        if (base == MAP_FAILED)
            abort();
    }
    Arena(const Arena &) = delete;
    ~Arena() { munmap(base, SIZE); }

    void *take(size_t size)
    {
        if (used + size > SIZE)
            abort();
        used += size;
        return base + used - size;
    }

    NOINLINE void reset()
    {
        madvise(base, used, MADV_DONTNEED); // FAULT: the next page needs the memory at once again
        used = 0;
    }

private:
    static constexpr size_t SIZE = 16 << 20;
    char *base;
    size_t used = 0;
};

struct Line {
    Line *next;
    double width;
    char text[240];
};

static NOINLINE double lay_out(Arena &arena, int page)
{
    Line *lines = nullptr;
    double height = page % 13;
    for (int i = 0; i < 14000; i++) {
        auto line = static_cast<Line *>(arena.take(sizeof(Line)));
        line->next = lines;
        line->width = refine(page + i, 14);
        line->text[0] = line->text[sizeof line->text - 1] = char(i);
        lines = line;
    }
    for (Line *line = lines; line; line = line->next)
        height += line->width + line->text[0] % 3;
    return height;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), pages = 560 * processors();
    std::atomic<int> next{0};
    std::vector<double> heights(pages);
    std::vector<std::thread> team;
    for (int i = 0; i < threads; i++)
        team.emplace_back([&] {
            Arena arena;
            for (int page; (page = next++) < pages;) {
                heights[page] = lay_out(arena, page);
                arena.reset();
            }
        });
    for (auto &thread : team)
        thread.join();
    double sum = 0;
    for (double height : heights)
        sum += height;
    printf("%.6f\n", sum);
    return 0;
}

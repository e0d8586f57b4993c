// Chapters of different lengths are set by threads and put into a book in their order.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "../suite.h"

struct Press {
    std::mutex lock;
    std::condition_variable turned;
    int turn = 0, next = 0;
    double sum = 0;
};

static long length_of(int chapter) { return chapter * 7919 % 7 < 2 ? 9 : 1 + chapter * 31 % 3; }

static NOINLINE double set_type(int chapter) { return refine(chapter, 60000 * length_of(chapter)); }

static NOINLINE void bind(Press &press, int chapter, double set)
{
    std::unique_lock<std::mutex> guard(press.lock);
    while (press.turn != chapter)
        press.turned.wait(guard); // FAULT: nothing else is set until those before are done
    press.sum = press.sum * 0.999 + set;
    press.turn++;
    press.turned.notify_all();
}

static int next_chapter(Press &press)
{
    std::lock_guard<std::mutex> guard(press.lock);
    return press.next++;
}

static void work(Press &press, int chapters)
{
    for (int chapter; (chapter = next_chapter(press)) < chapters;)
        bind(press, chapter, set_type(chapter));
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), chapters = 420 * processors();
    Press press;
    std::vector<std::thread> team;
    for (int i = 0; i < threads; i++)
        team.emplace_back(work, std::ref(press), chapters);
    for (auto &thread : team)
        thread.join();
    printf("%.6f\n", press.sum);
    return 0;
}

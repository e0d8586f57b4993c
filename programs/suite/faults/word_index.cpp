// An index of the words of a collection of texts: threads take texts, and note where each word occurs.
#include <atomic>
#include <cctype>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "../suite.h"

namespace {

constexpr int texts = 900;

class Index {
public:
    void add_text(int number, const std::string &text);
    size_t entries() const;

private:
    std::mutex lock;
    std::unordered_map<std::string, std::vector<int>> places;
};

NOINLINE std::string stem(const std::string &text, size_t from, size_t to)
{
    std::string word;
    for (size_t at = from; at < to; at++)
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at])));
    while (word.size() > 3 && (word.back() == 's' || word.back() == 'e'))
        word.pop_back();
    return word;
}

NOINLINE void Index::add_text(int number, const std::string &text)
{
    std::lock_guard<std::mutex> guard(lock); // FAULT: held while the text is cut into words
    size_t from = 0;
    while (from < text.size()) {
        size_t to = text.find(' ', from);
        if (to == std::string::npos)
            to = text.size();
        auto &list = places[stem(text, from, to)];
        if (list.empty() || list.back() != number)
            list.push_back(number);
        from = to + 1;
    }
}

size_t Index::entries() const
{
    size_t count = 0;
    for (const auto &word : places)
        count += word.second.size();
    return count;
}

NOINLINE std::string fetch(int number)
{
    uint64_t state = 1000003 * static_cast<uint64_t>(number + 1);
    std::string text;
    for (int word = 0; word < 9000; word++) {
        uint64_t code = next_random(&state) % 4000;
        for (int letter = 0; letter < 9; letter++, code = code / 5 + 3)
            text += static_cast<char>((letter % 4 ? 'a' : 'A') + code % 23);
        text += ' ';
    }
    return text;
}

NOINLINE void work(Index &index, std::atomic<int> &next)
{
    for (int number = next++; number < texts; number = next++)
        index.add_text(number, fetch(number));
}

} // namespace

int main(int argc, char **argv)
{
    Index index;
    std::atomic<int> next{0};
    std::vector<std::thread> team;
    for (int thread = threads_asked(argc, argv); thread > 0; thread--)
        team.emplace_back(work, std::ref(index), std::ref(next));
    for (auto &member : team)
        member.join();
    std::printf("%zu\n", index.entries());
}

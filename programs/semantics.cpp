// Checks itself, as semantics.c does: the waits of the C++ library, exceptions through all of them,
// thread_local destructors that lock, exit handlers that wait. One line a case, the same in every run.
// semantics-cpp [GROUP…]: only these groups of cases
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <initializer_list>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <cxxabi.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Short enough to be waited for; so long that no loaded machine reaches it.
constexpr auto SHORTLY = 8ms;
constexpr auto LATER = 60s;

static int cases, wrong;

static void outcome(const char *name, const std::string &expected, const std::string &got)
{
    cases++;
    wrong += got != expected;
    if (got == expected)
        printf("%s: %s\n", name, got.c_str());
    else
        printf("%s: %s   WRONG, expected: %s\n", name, got.c_str(), expected.c_str());
}

// One after another: braces keep the order, a sum of strings does not.
static std::string in_order(std::initializer_list<std::string> parts)
{
    std::string all;
    for (auto &part : parts)
        all += all.empty() ? part : " " + part;
    return all;
}

static std::string yes(bool value) { return value ? "yes" : "no"; }

// The order of things.
static std::mutex happened_mutex;
static std::string happened;

static void event(const std::string &what)
{
    std::lock_guard guard(happened_mutex);
    happened += happened.empty() ? what : " " + what;
}

static std::string events()
{
    std::lock_guard guard(happened_mutex);
    return std::exchange(happened, "");
}

// A thread that others can see blocked: it says that its next call blocks, and the kernel says that it
// sleeps.
class Sleeper {
    std::atomic<int> tid{0};

    long times_asleep() const
    {
        char path[64], status[4096];
        snprintf(path, sizeof path, "/proc/self/task/%d/status", tid.load());
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            return -1;
        ssize_t length = read(file, status, sizeof status - 1);
        close(file);
        status[length > 0 ? length : 0] = 0;
        const char *state = strstr(status, "\nState:\t"),
                   *times = strstr(status, "\nvoluntary_ctxt_switches:\t");
        return state && times && state[8] == 'S' ? atol(times + 26) : -1;
    }

  public:
    void arrive() { tid = (int)syscall(SYS_gettid); }

    void until_asleep()
    {
        while (tid == 0)
            std::this_thread::sleep_for(1ms);
        long before = -1;
        for (int same = 0; same < 5; std::this_thread::sleep_for(1ms)) {
            long now = times_asleep();
            same = now >= 0 && now == before ? same + 1 : 0;
            before = now;
        }
        tid = 0;
    }
};

// What a call throws, by kind; "returned" if nothing.
template <class Function> static std::string thrown(Function function)
{
    try {
        function();
    } catch (const std::system_error &error) {
        return "system_error " + std::to_string(error.code().value());
    } catch (const std::future_error &error) {
        return "future_error " + std::to_string(error.code().value());
    } catch (const std::exception &error) {
        return error.what();
    } catch (int number) {
        return "int " + std::to_string(number);
    }
    return "returned";
}

// Whether a wait in vain lasted long enough.
template <class Function> static std::string in_vain(Function function)
{
    auto began = Clock::now();
    bool got = function();
    return got ? "got" : Clock::now() - began >= SHORTLY ? "timeout" : "early";
}

template <class Function> static auto elsewhere(Function function)
{
    return std::async(std::launch::async, function).get();
}

// Destructors run while exceptions pass through the frames that hold locks.
struct Told {
    const char *what;
    ~Told() { event(what); }
};

static void locks()
{
    std::mutex mutex;
    mutex.lock();
    outcome("mutex: try_lock by another", "no", yes(elsewhere([&] { return mutex.try_lock(); })));
    Sleeper sleeper;
    std::thread waiter([&] {
        sleeper.arrive();
        std::lock_guard guard(mutex);
        event("locked");
    });
    sleeper.until_asleep();
    event("unlocking");
    mutex.unlock();
    waiter.join();
    outcome("mutex: handed over", "unlocking locked", events());

    outcome("mutex: exception under lock_guard", "out", thrown([&] {
                Told last{"outer"};
                std::lock_guard guard(mutex);
                Told first{"inner"};
                throw std::runtime_error("out");
            }));
    outcome("mutex: unlocked by it", "yes", yes(mutex.try_lock()));
    outcome("mutex: destructors in order", "inner outer", events());
    mutex.unlock();

    std::unique_lock<std::mutex> nothing;
    outcome("unique_lock without mutex", "system_error 1", thrown([&] { nothing.lock(); }));
    std::unique_lock own(mutex);
    outcome("unique_lock twice", "system_error 35", thrown([&] { own.lock(); }));
    own.unlock();
    outcome("unique_lock unlocked twice", "system_error 1", thrown([&] { own.unlock(); }));

    std::timed_mutex timed;
    timed.lock();
    outcome("timed_mutex: try_lock_for", "timeout",
            elsewhere([&] { return in_vain([&] { return timed.try_lock_for(SHORTLY); }); }));
    outcome("timed_mutex: try_lock_until, past", "no",
            yes(elsewhere([&] { return timed.try_lock_until(Clock::now() - 1s); })));
    outcome("timed_mutex: try_lock_until, real time", "timeout", elsewhere([&] {
                return in_vain(
                    [&] { return timed.try_lock_until(std::chrono::system_clock::now() + SHORTLY + 1ms); });
            }));
    timed.unlock();
    outcome("timed_mutex: free", "yes", yes(elsewhere([&] {
                bool got = timed.try_lock_for(LATER);
                if (got)
                    timed.unlock();
                return got;
            })));

    std::recursive_mutex recursive;
    recursive.lock();
    recursive.lock();
    recursive.unlock();
    outcome("recursive_mutex: once of twice unlocked", "no",
            yes(elsewhere([&] { return recursive.try_lock(); })));
    recursive.unlock();
    outcome("recursive_mutex: unlocked", "yes", yes(elsewhere([&] {
                bool got = recursive.try_lock();
                if (got)
                    recursive.unlock();
                return got;
            })));
    std::recursive_timed_mutex both;
    both.lock();
    outcome("recursive_timed_mutex: by the owner", "yes", yes(both.try_lock_for(SHORTLY)));
    outcome("recursive_timed_mutex: by another", "timeout",
            elsewhere([&] { return in_vain([&] { return both.try_lock_for(SHORTLY); }); }));
    both.unlock();
    both.unlock();

    // std::lock takes any number without deadlock, in whatever order it is asked.
    std::mutex first, second;
    long sum = 0;
    auto add = [&](std::mutex &a, std::mutex &b) {
        for (int i = 0; i < 2000; i++) {
            std::scoped_lock guard(a, b);
            sum++;
        }
    };
    std::thread there(add, std::ref(first), std::ref(second)), back(add, std::ref(second), std::ref(first));
    there.join();
    back.join();
    outcome("scoped_lock of two, both ways", "4000", std::to_string(sum));
    second.lock();
    outcome("try_lock of two", "1", std::to_string(elsewhere([&] { return std::try_lock(first, second); })));
    second.unlock();
}

static void shared_locks()
{
    std::shared_mutex mutex;
    mutex.lock_shared();
    outcome("shared_mutex: a second reader", "yes", yes(elsewhere([&] {
                bool got = mutex.try_lock_shared();
                if (got)
                    mutex.unlock_shared();
                return got;
            })));
    outcome("shared_mutex: a writer beside a reader", "no", yes(elsewhere([&] { return mutex.try_lock(); })));
    Sleeper sleeper;
    std::thread writer([&] {
        sleeper.arrive();
        std::unique_lock guard(mutex);
        event("written");
    });
    sleeper.until_asleep();
    event("unlocking");
    mutex.unlock_shared();
    writer.join();
    outcome("shared_mutex: a writer behind a reader", "unlocking written", events());
    outcome("shared_mutex: exception under shared_lock", "int 7", thrown([&] {
                std::shared_lock guard(mutex);
                throw 7;
            }));
    outcome("shared_mutex: unlocked by it", "yes", yes(mutex.try_lock()));
    outcome("shared_mutex: locked by its writer again", "system_error 35",
            thrown([&] { mutex.lock_shared(); }));
    mutex.unlock();

    std::shared_timed_mutex timed;
    timed.lock();
    outcome("shared_timed_mutex: try_lock_for", "timeout",
            elsewhere([&] { return in_vain([&] { return timed.try_lock_for(SHORTLY); }); }));
    outcome("shared_timed_mutex: try_lock_shared_for", "timeout",
            elsewhere([&] { return in_vain([&] { return timed.try_lock_shared_for(SHORTLY); }); }));
    outcome("shared_timed_mutex: try_lock_shared_until, past", "no", yes(elsewhere([&] {
                return timed.try_lock_shared_until(std::chrono::system_clock::now() - 1s);
            })));
    timed.unlock();
}

template <class Condition, class Mutex> static void condition_of(const char *kind)
{
    Mutex mutex;
    Condition condition;
    bool ready = false;
    std::string name = kind;
    Sleeper sleeper;
    std::thread waiter([&] {
        std::unique_lock guard(mutex);
        while (!ready) {
            sleeper.arrive();
            condition.wait(guard);
        }
        event("woken");
    });
    sleeper.until_asleep();
    {
        std::lock_guard guard(mutex);
        ready = true;
        event("notifying");
        condition.notify_one();
    }
    waiter.join();
    outcome((name + ": wait").c_str(), "notifying woken", events());

    std::unique_lock guard(mutex);
    outcome((name + ": wait_for").c_str(), "timeout",
            in_vain([&] { return condition.wait_for(guard, SHORTLY, [] { return false; }); }));
    outcome((name + ": wait_until, real time").c_str(), "timeout", in_vain([&] {
                return condition.wait_until(guard, std::chrono::system_clock::now() + SHORTLY + 1ms,
                                            [] { return false; });
            }));
    outcome((name + ": wait_until, past").c_str(), "no",
            yes(condition.wait_until(guard, Clock::now() - 1s, [] { return false; })));
    outcome((name + ": a predicate that throws").c_str(), "int 3",
            thrown([&] { condition.wait(guard, []() -> bool { throw 3; }); }));
    outcome((name + ": the lock is held after it").c_str(), "no",
            yes(elsewhere([&] { return mutex.try_lock(); })));
    guard.unlock();

    int woken = 0;
    bool go = false;
    std::vector<std::thread> waiters;
    Sleeper sleepers[3];
    for (auto &each : sleepers)
        waiters.emplace_back([&] {
            std::unique_lock held(mutex);
            while (!go) {
                each.arrive();
                condition.wait(held);
            }
            woken++;
        });
    for (auto &each : sleepers)
        each.until_asleep();
    {
        std::lock_guard held(mutex);
        go = true;
    }
    condition.notify_all();
    for (auto &each : waiters)
        each.join();
    outcome((name + ": notify_all").c_str(), "3", std::to_string(woken));
}

static void conditions()
{
    condition_of<std::condition_variable, std::mutex>("condition_variable");
    condition_of<std::condition_variable_any, std::timed_mutex>("condition_variable_any");
    condition_of<std::condition_variable_any, std::shared_timed_mutex>("condition_variable_any, shared");

    // A stop request ends the wait.
    std::mutex mutex;
    std::condition_variable_any condition;
    Sleeper sleeper;
    std::jthread waiter([&](std::stop_token token) {
        std::unique_lock guard(mutex);
        sleeper.arrive();
        event(condition.wait(guard, token, [] { return false; }) ? "woken" : "stopped");
    });
    sleeper.until_asleep();
    waiter.request_stop();
    waiter.join();
    outcome("condition_variable_any: stop request", "stopped", events());

    // The thread's exit notifies, after its thread-local objects are gone.
    std::condition_variable at_exit;
    bool done = false;
    std::thread leaving([&] {
        static thread_local Told told{"gone"};
        (void)&told;
        std::unique_lock guard(mutex);
        done = true;
        std::notify_all_at_thread_exit(at_exit, std::move(guard));
    });
    {
        std::unique_lock guard(mutex);
        at_exit.wait(guard, [&] { return done; });
        event("noticed");
    }
    leaving.join();
    outcome("notify_all_at_thread_exit", "gone noticed", events());
}

static void semaphores()
{
    std::counting_semaphore<10> semaphore(2);
    semaphore.acquire();
    outcome("counting_semaphore: try_acquire", "yes no",
            in_order({yes(semaphore.try_acquire()), yes(semaphore.try_acquire())}));
    outcome("counting_semaphore: try_acquire_for", "timeout",
            in_vain([&] { return semaphore.try_acquire_for(SHORTLY); }));
    outcome("counting_semaphore: try_acquire_until, past", "no",
            yes(semaphore.try_acquire_until(Clock::now() - 1s)));
    Sleeper sleeper;
    std::thread waiter([&] {
        sleeper.arrive();
        semaphore.acquire();
        event("acquired");
    });
    sleeper.until_asleep();
    event("releasing");
    semaphore.release();
    waiter.join();
    outcome("counting_semaphore: acquire", "releasing acquired", events());

    std::binary_semaphore there(0), back(0);
    int rounds = 0;
    std::thread player([&] {
        for (int i = 0; i < 500; i++) {
            there.acquire();
            rounds++;
            back.release();
        }
    });
    for (int i = 0; i < 500; i++) {
        there.release();
        back.acquire();
    }
    player.join();
    outcome("binary_semaphore: there and back", "500", std::to_string(rounds));
}

static void latches_and_barriers()
{
    std::latch latch(3);
    outcome("latch: try_wait", "no", yes(latch.try_wait()));
    std::atomic<int> passed = 0;
    Sleeper sleeper;
    std::thread waiter([&] {
        sleeper.arrive();
        latch.wait();
        passed++;
    });
    sleeper.until_asleep();
    latch.count_down();
    std::thread arriving([&] {
        latch.arrive_and_wait();
        passed++;
    });
    outcome("latch: nobody passes before the last", "0", std::to_string(passed.load()));
    latch.count_down();
    waiter.join();
    arriving.join();
    outcome("latch: all passed", "2 yes", in_order({std::to_string(passed.load()), yes(latch.try_wait())}));

    int completions = 0;
    std::atomic<int> arrived = 0, early = 0;
    auto complete = [&]() noexcept { completions++; };
    std::barrier barrier(3, complete);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
        threads.emplace_back([&] {
            for (int i = 1; i <= 50; i++) {
                arrived++;
                barrier.arrive_and_wait();
                early += arrived < 3 * i;
            }
            barrier.arrive_and_drop();
        });
    for (auto &thread : threads)
        thread.join();
    outcome("barrier: completions, too early", "51 0",
            in_order({std::to_string(completions), std::to_string(early.load())}));

    std::atomic<int> word = 0;
    std::thread watcher([&] {
        sleeper.arrive();
        word.wait(0);
        event("changed to " + std::to_string(word.load()));
    });
    sleeper.until_asleep();
    word = 5;
    word.notify_all();
    watcher.join();
    outcome("atomic: wait", "changed to 5", events());
}

static void once()
{
    std::once_flag flag;
    int runs = 0;
    auto first_fails = [&] {
        std::call_once(flag, [&] {
            if (++runs == 1)
                throw std::runtime_error("not yet");
        });
    };
    outcome("call_once that throws", "not yet", thrown(first_fails));
    outcome("call_once: the next caller runs it", "returned", thrown(first_fails));
    outcome("call_once: and nobody after it", "returned", thrown(first_fails));
    outcome("call_once: runs", "2", std::to_string(runs));

    // The exception reaches only the first caller; the one that waited runs the initialiser itself.
    std::once_flag slow;
    std::atomic<bool> may_throw = false;
    std::atomic<int> begun = 0;
    auto initialise = [&] {
        if (begun++ == 0) {
            while (!may_throw)
                std::this_thread::sleep_for(1ms);
            throw 9;
        }
        event("initialised");
    };
    std::string of_first, of_second;
    std::thread first([&] { of_first = thrown([&] { std::call_once(slow, initialise); }); });
    while (begun == 0)
        std::this_thread::sleep_for(1ms);
    Sleeper sleeper;
    std::thread second([&] {
        sleeper.arrive();
        of_second = thrown([&] { std::call_once(slow, initialise); });
    });
    sleeper.until_asleep();
    may_throw = true;
    first.join();
    second.join();
    outcome("call_once: one waits while another throws", "int 9 initialised returned",
            in_order({of_first, events(), of_second}));

    std::once_flag outer, inner;
    std::call_once(outer, [&] { std::call_once(inner, [] { event("inner"); }); });
    outcome("call_once inside call_once", "inner", events());

    // A static object whose constructor throws the first time.
    static int constructed = 0;
    struct Stubborn {
        Stubborn()
        {
            if (++constructed == 1)
                throw 4;
        }
    };
    auto make = [] { static Stubborn object; };
    outcome("static object: first time", "int 4", thrown(make));
    outcome("static object: second time", "returned", thrown(make));
    outcome("static object: constructors", "2", (thrown(make), std::to_string(constructed)));
    static std::atomic<int> slow_runs = 0;
    auto slowly = [] {
        static int value = [] {
            std::this_thread::sleep_for(SHORTLY);
            return ++slow_runs;
        }();
        return value;
    };
    auto a = std::async(std::launch::async, slowly), b = std::async(std::launch::async, slowly);
    outcome("static object: two threads", "1 1",
            in_order({std::to_string(a.get()), std::to_string(b.get())}));
}

static void futures()
{
    std::promise<int> promise;
    auto future = promise.get_future();
    outcome("future: wait_for", "timeout",
            in_vain([&] { return future.wait_for(SHORTLY) == std::future_status::ready; }));
    Sleeper sleeper;
    std::thread waiter([&] {
        sleeper.arrive();
        event("got " + std::to_string(future.get()));
    });
    sleeper.until_asleep();
    event("setting");
    promise.set_value(6);
    waiter.join();
    outcome("future: get", "setting got 6", events());
    outcome("promise: set twice", "future_error 2", thrown([&] { promise.set_value(7); }));
    outcome("future: used up", "future_error 3", thrown([&] { future.get(); }));

    auto failing = std::async(std::launch::async, []() -> int { throw std::runtime_error("from the task"); });
    outcome("future: exception of an async task", "from the task", thrown([&] { failing.get(); }));
    auto deferred = std::async(std::launch::deferred, [] { return 8; });
    outcome("future: deferred", "yes 8",
            in_order({yes(deferred.wait_for(0s) == std::future_status::deferred),
                      std::to_string(deferred.get())}));
    std::future<void> broken = std::promise<void>().get_future();
    outcome("future: broken promise", "future_error 4", thrown([&] { broken.get(); }));
    std::packaged_task<int(int)> task([](int x) { return x * 2; });
    auto doubled = task.get_future();
    std::thread(std::move(task), 21).join();
    outcome("packaged_task", "42", std::to_string(doubled.get()));
    std::promise<int> common;
    std::shared_future<int> shared = common.get_future().share();
    auto one = std::async(std::launch::async, [shared] { return shared.get(); });
    auto two = std::async(std::launch::async, [shared] { return shared.get(); });
    common.set_exception(std::make_exception_ptr(11));
    outcome("shared_future: exception for both", "int 11 int 11",
            in_order({thrown([&] { one.get(); }), thrown([&] { two.get(); })}));
}

static std::mutex thread_local_mutex;
static int thread_locals_gone;

struct LocksAtThreadEnd {
    int amount = 1;
    ~LocksAtThreadEnd()
    {
        std::lock_guard guard(thread_local_mutex);
        thread_locals_gone += amount;
        std::this_thread::sleep_for(1ms);
    }
};

static thread_local LocksAtThreadEnd locks_at_end;

static void threads()
{
    std::vector<std::thread> several;
    for (int i = 0; i < 4; i++)
        several.emplace_back([] { locks_at_end.amount = 2; });
    for (auto &thread : several)
        thread.join();
    outcome("thread_local: destructors that lock", "8", std::to_string(thread_locals_gone));
    outcome("thread: joined twice", "system_error 22", thrown([&] { several[0].join(); }));
    std::thread looking([&] { event(thrown([&] { looking.join(); })); });
    while (happened_mutex.lock(), happened.empty()) {
        happened_mutex.unlock();
        std::this_thread::sleep_for(1ms);
    }
    happened_mutex.unlock();
    looking.join();
    outcome("thread: joins itself", "system_error 35", events());
    {
        std::jthread stoppable([](std::stop_token token) {
            while (!token.stop_requested())
                std::this_thread::sleep_for(1ms);
            event("stopped");
        });
    }
    outcome("jthread: stopped and joined by its destructor", "stopped", events());
    std::stop_source source;
    {
        std::stop_callback callback(source.get_token(), [] { event("called back"); });
        std::thread stopper([&] { source.request_stop(); });
        stopper.join();
    }
    outcome("stop_callback", "called back", events());

    auto began = Clock::now();
    std::this_thread::sleep_for(SHORTLY);
    std::this_thread::sleep_until(Clock::now() + 1ms);
    outcome("sleep_for", "yes", yes(Clock::now() - began >= SHORTLY + 1ms));
    std::this_thread::sleep_until(std::chrono::system_clock::now() - 1h);
    std::this_thread::yield();

    // An exception in a thread, passed on by hand, through frames that hold and wait.
    std::exception_ptr carried;
    std::thread thrower([&] {
        try {
            Told told{"unwound"};
            std::mutex mutex;
            std::unique_lock guard(mutex);
            std::condition_variable condition;
            condition.wait_for(guard, 1ms, []() -> bool { throw std::logic_error("carried"); });
        } catch (...) {
            carried = std::current_exception();
        }
    });
    thrower.join();
    outcome("exception: carried out of a thread", "carried",
            thrown([&] { std::rethrow_exception(carried); }));
    outcome("exception: unwound", "unwound", events());
}

// Cancellation is a forced unwinding: destructors run, catch (...) sees it and must pass it on.
template <class Wait>
static void cancelled_in(const char *name, Wait wait, const char *expected = "unwinding destroyed")
{
    Sleeper sleeper;
    std::thread thread([&] {
        Told told{"destroyed"};
        try {
            sleeper.arrive();
            wait();
            event("returned");
        } catch (abi::__forced_unwind &) {
            event("unwinding");
            throw;
        }
    });
    sleeper.until_asleep();
    pthread_cancel(thread.native_handle());
    thread.join();
    outcome(name, expected, events());
}

static void cancellation()
{
    std::mutex mutex;
    pthread_mutex_t plain = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    int ends[2];
    if (pipe(ends) != 0)
        return;
    cancelled_in("cancelled in nanosleep", [] {
        timespec minute = {60, 0};
        nanosleep(&minute, nullptr);
    });
    cancelled_in("cancelled in read", [&] {
        char byte;
        event(std::to_string(read(ends[0], &byte, 1)));
    });
    cancelled_in(
        "cancelled in pthread_cond_wait",
        [&] {
            struct Held {
                pthread_mutex_t *mutex;
                ~Held() { event(pthread_mutex_unlock(mutex) == 0 ? "unlocked" : "not held"); }
            };
            pthread_mutex_lock(&plain);
            Held held{&plain};
            for (;;)
                pthread_cond_wait(&condition, &plain);
        },
        "unlocked unwinding destroyed");
    outcome("cancelled in pthread_cond_wait: the mutex is free", "0",
            std::to_string(pthread_mutex_trylock(&plain)));
    cancelled_in("cancelled in pause", [] { pause(); });
    cancelled_in("cancelled under a lock_guard", [&] {
        std::lock_guard guard(mutex);
        pause();
    });
    outcome("cancelled under a lock_guard: unlocked", "yes", yes(mutex.try_lock()));
    mutex.unlock();
    close(ends[0]);
    close(ends[1]);
}

static void exceptions()
{
    // Many, in several threads at once, through frames that lock.
    std::mutex mutex;
    std::shared_mutex shared;
    std::atomic<int> caught = 0;
    std::function<void(int)> deep = [&](int depth) {
        if (depth == 0)
            throw depth;
        if (depth % 2) {
            std::shared_lock guard(shared);
            deep(depth / 2);
        } else {
            deep(depth - 1);
        }
    };
    std::vector<std::thread> several;
    for (int t = 0; t < 3; t++)
        several.emplace_back([&] {
            for (int i = 0; i < 200; i++)
                try {
                    std::lock_guard guard(mutex);
                    deep(20);
                } catch (int) {
                    caught++;
                }
        });
    for (auto &thread : several)
        thread.join();
    outcome("exceptions in three threads", "600", std::to_string(caught.load()));
    outcome("mutex after them", "yes", yes(mutex.try_lock()));
    mutex.unlock();
}

// Streams whose functions throw: the exception passes through the C library and what stands before it.
static int throws = 0;

static ssize_t read_or_throw(void *, char *to, size_t size)
{
    if (throws != 0)
        throw throws;
    memset(to, 'r', std::min<size_t>(size, 8));
    return static_cast<ssize_t>(std::min<size_t>(size, 8));
}

static ssize_t write_or_throw(void *, const char *, size_t size)
{
    if (throws != 0)
        throw throws;
    return static_cast<ssize_t>(size);
}

static void streams()
{
    char line[8];
    FILE *file = fopencookie(nullptr, "r", {read_or_throw, nullptr, nullptr, nullptr});
    outcome("fgetc", "114", std::to_string(fgetc(file)));
    throws = 1;
    outcome("fgets that throws", "int 1", thrown([&] {
                setvbuf(file, nullptr, _IONBF, 0);
                while (fgets(line, sizeof line, file) != nullptr)
                    ;
            }));
    outcome("fscanf that throws", "int 1", thrown([&] { return fscanf(file, "%7s", line); }));
    outcome("fread that throws", "int 1", thrown([&] { return fread(line, 1, sizeof line, file); }));
    outcome("fgetc that throws", "int 1", thrown([&] { return fgetc(file); }));
    throws = 0;
    outcome("fgetc afterwards", "114", std::to_string(fgetc(file)));
    outcome("fclose", "0", std::to_string(fclose(file)));
    file = fopencookie(nullptr, "w", {nullptr, write_or_throw, nullptr, nullptr});
    setvbuf(file, nullptr, _IONBF, 0);
    throws = 2;
    outcome("fprintf that throws", "int 2", thrown([&] {
                return fprintf(file, "%d %s %.1f %d %d %d %d %.1f", 1, "two", 3.0, 4, 5, 6, 7, 8.0);
            }));
    outcome("fputs that throws", "int 2", thrown([&] { return fputs("text", file); }));
    outcome("fputc that throws", "int 2", thrown([&] { return fputc('c', file); }));
    outcome("fwrite that throws", "int 2", thrown([&] { return fwrite("text", 1, 4, file); }));
    throws = 0;
    outcome("fprintf afterwards", "3", std::to_string(fprintf(file, "%d", 123)));
    throws = 3;
    outcome("ferror", "0", std::to_string(ferror(file)));
    throws = 0;
    outcome("fclose, writing", "0", std::to_string(fclose(file)));
}

// After main: handlers and destructors of static objects that lock, wait and create threads.
static void wait_at_exit()
{
    std::mutex mutex;
    std::condition_variable condition;
    std::unique_lock guard(mutex);
    outcome("at exit: wait_for", "timeout",
            in_vain([&] { return condition.wait_for(guard, SHORTLY, [] { return false; }); }));
    outcome("at exit: async", "5", std::to_string(std::async(std::launch::async, [] { return 5; }).get()));
}

struct AfterMain {
    ~AfterMain()
    {
        std::thread thread([] { locks_at_end.amount = 4; });
        thread.join();
        outcome("static destructor: thread with thread_local", "4", std::to_string(thread_locals_gone));
        printf("%d cases, %d wrong\n", cases, wrong);
        fflush(stdout);
        if (wrong != 0)
            _exit(1);
    }
};

static AfterMain after_main;

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } groups[] = {
        {"locks", locks},         {"shared-locks", shared_locks}, {"conditions", conditions},
        {"semaphores", semaphores}, {"latches-and-barriers", latches_and_barriers},
        {"once", once},           {"futures", futures},           {"threads", threads},
        {"cancellation", cancellation}, {"exceptions", exceptions}, {"streams", streams},
    };
    setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    alarm(200);
    atexit(wait_at_exit);
    for (auto &group : groups) {
        bool asked_for = argc == 1;
        for (int i = 1; i < argc; i++)
            asked_for |= strcmp(argv[i], group.name) == 0;
        if (asked_for) {
            printf("# %s\n", group.name);
            group.run();
        }
    }
    // From here on the thread-local destructors of other threads count from nothing.
    thread_locals_gone = 0;
    return 0;
}

// Independent tasks on several threads.
//
// Threads are started for each call (some 20 microseconds) instead of waiting in a pool: nothing
// spins beside a busy neighbor, and nothing is missing in a forked process.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace {

// Calls run(0), ..., run(count - 1), each once, in any order, on up to `threads` threads.
template <class Run>
void parallel(int64_t threads, int64_t count, const Run& run) {
    std::atomic<int64_t> next{0};
    auto work = [&] {
        for (int64_t task = next++; task < count; task = next++) run(task);
    };
    std::vector<std::thread> others;
    for (int64_t thread = 1; thread < std::min(threads, count); ++thread) {
        try {
            others.emplace_back(work);
        } catch (const std::system_error&) {
            break;  // the system allows no more threads; those we have do the work
        }
    }
    work();
    for (std::thread& other : others) other.join();
}

}  // namespace

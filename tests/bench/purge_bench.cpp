// The time that a purge by prefix takes in a large store, and how long look-ups wait meanwhile.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <thread>

#include "proxy/cache/store.hpp"
#include "tests/bench/arguments.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace {

using namespace proxy::cache;
using Steady = std::chrono::steady_clock;

std::string url_of(std::size_t number, std::size_t count) {
  const char* const half = number < count / 2 ? "http://a.example.com/" : "http://b.example.com/";
  return half + std::to_string(number);
}

void fill(Store& store, Budget& budget, std::size_t count) {
  const Request request;
  const Response response("Cache-Control: max-age=100\r\nContent-Type: text/plain\r\n");
  for (std::size_t i = 0; i < count; ++i) {
    const auto url = url_of(i, count);
    auto entry =
        Entry::make(budget, Received{url, request.head.fields, response.head, kAtOnce, "us"});
    store.put(key_of(url), {std::move(entry)}, kStart);
  }
}

double milliseconds_since(Steady::time_point begun) {
  return std::chrono::duration<double, std::milli>(Steady::now() - begun).count();
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 1'000'000;
  const auto exit_code = bench::parse(argc, argv, "a purge by prefix of half of a store",
                                      {
                                          {"--entries", &count},
                                      });
  if (exit_code) return *exit_code;

  Budget budget(std::uint64_t{1} << 40);
  Store store(budget);
  fill(store, budget, count);
  std::atomic<bool> done{false};
  std::vector<double> waits;
  std::thread reader([&] {
    const Request request;
    for (std::size_t i = 0; waits.empty() || !done; i = (i + 7919) % count) {
      const auto url = url_of(i, count);
      const auto key = key_of(url);
      const auto begun = Steady::now();
      store.find(key, url, request.head.fields);
      waits.push_back(milliseconds_since(begun));
    }
  });
  const auto purge = [&](std::string_view prefix) {
    const auto begun = Steady::now();
    const auto removed =
        store.remove_if([prefix](const Entry& entry) { return entry.url().starts_with(prefix); });
    std::cout << removed << " of " << count << " dropped in " << milliseconds_since(begun)
              << " ms\n";
    return removed;
  };
  const bool right = purge("http://c") == 0 && purge("http://a") == count / 2;
  done = true;
  reader.join();
  std::sort(waits.begin(), waits.end());
  std::cout << "look-ups meanwhile: " << waits.size() << ", 99.9 % within "
            << waits[waits.size() * 999 / 1000] << " ms, all within " << waits.back() << " ms\n";
  return right && store.entries() == count - count / 2 ? 0 : 1;
}

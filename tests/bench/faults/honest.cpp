#include "tests/bench/faults/honest.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <thread>

#include "tests/bench/faults/answers.hpp"
#include "tests/bench/faults/pair.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using support::Fields;
using support::json;

constexpr double kRate = 300;       // requests a second
constexpr double kFillRate = 1000;  // of requests that the neighbour gets before
constexpr double kBurst = 2000;     // new responses a second that it stores meanwhile

std::vector<std::string> urls_of(const PlayedServer& origin, const std::string& kind,
                                 std::size_t count) {
  std::vector<std::string> urls;
  for (std::size_t i = 0; i < count; ++i) {
    urls.push_back("http://127.0.0.1:" + std::to_string(origin.port()) + "/" + kind +
                   std::to_string(i));
  }
  return urls;
}

// The URLs of what the proxy holds.
std::set<std::string> held_at(const support::ProxyProcess& proxy) {
  std::istringstream lines(proxy.page("/admin/cache/list", {{"X-Hearsay", "1"}}).body);
  std::set<std::string> urls;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const json entry = json::parse(line);
    if (entry.contains("url")) urls.insert(entry.at("url").get<std::string>());
  }
  return urls;
}

// The fields of the requests: those with an odd number are for what the neighbour does not have.
FieldsFor fields_for(Excuse excuse) {
  return [excuse](std::size_t number) -> Fields {
    const bool odd = number % 2 == 1;
    if (excuse == Excuse::variants) return {{"Accept-Language", odd ? "en" : "de"}};
    if (excuse == Excuse::age && odd) return {{"Cache-Control", "max-age=1"}};
    return {};
  };
}

// A memory that the claimed responses fill.
std::string memory_for(Excuse excuse, std::size_t entries) {
  constexpr std::size_t kBytesEach = 3400;  // what an entry takes, with its share of the tables
  constexpr std::size_t kLeast = std::size_t{1} << 20;  // that a proxy accepts
  if (excuse != Excuse::evictions) return "1GiB";
  return std::to_string(std::max(kLeast, entries * kBytesEach) / 1024) + "KiB";
}

// Those of the URLs that the neighbour holds, in the order in which it has stored them, in which it
// also evicts them: so a burst of evictions makes nearly all claims false at first.
std::vector<std::string> held_of(const Pair& pair, std::vector<std::string> urls) {
  const auto held = held_at(pair.holder());
  std::erase_if(urls, [&held](const auto& url) { return held.count(url) == 0; });
  return urls;
}

Honest judge(const Pair& pair, const std::vector<Sample>& samples,
             const std::vector<bool>& answerable) {
  Honest honest;
  honest.figures = figures_of(samples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!answerable[i]) continue;
    ++honest.could;
    honest.lost += samples[i].giver.empty() ? 1 : 0;
  }
  const json books = pair.books();
  honest.outruns = books.at("outruns");
  honest.causes = books.at("false_hit_causes").dump();
  honest.rests = books.at("rests").dump();
  return honest;
}

}  // namespace

Honest measure_honest(Excuse excuse, std::size_t answerable) {
  const Fields vary{{"Vary", "Accept-Language"}};
  PlayedServer origin(well_after(80ms, excuse == Excuse::variants ? vary : Fields()), "");
  const std::size_t count = 2 * answerable;
  PlayedServer near(well_after(0ms), "");
  const Pair pair(false, true, memory_for(excuse, count));
  ask_openly(pair.holder().port(), urls_of(origin, "claimed/", count), {kFillRate},
             [&](std::size_t) { return fields_for(excuse)(0); });
  // Age is counted in seconds of real time, and fields_for() asks for a lower one.
  if (excuse == Excuse::age) std::this_thread::sleep_for(3s);
  const auto urls = held_of(pair, urls_of(origin, "claimed/", count));
  pair.await_claims(urls.size());
  std::jthread burst([&] {
    if (excuse != Excuse::evictions) return;
    ask_openly(pair.holder().port(), urls_of(near, "new/", answerable), {kBurst});
  });
  const auto samples = ask_openly(pair.asker().port(), urls, {kRate}, fields_for(excuse));
  burst.join();
  const auto held = held_at(pair.holder());
  std::vector<bool> could;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    could.push_back(excuse == Excuse::evictions ? held.count(urls[i]) > 0 : i % 2 == 0);
  }
  return judge(pair, samples, could);
}

}  // namespace bench

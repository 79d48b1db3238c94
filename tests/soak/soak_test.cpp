// Three neighbours and a hostile one under load for hours: purges, restarts, crashes, an origin
// that fails and disks that fill. HEARSAY_HOURS=1 says for how long; without it, the test takes
// half a minute. HEARSAY_SEED chooses another run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/scenario/disk/failing_disk.hpp"
#include "tests/soak/crowd.hpp"
#include "tests/soak/hostile_neighbour.hpp"
#include "tests/support/await.hpp"

namespace soak {
namespace {

using namespace std::chrono_literals;

double number(const char* name, double otherwise) {
  const char* const said = std::getenv(name);
  return said ? std::strtod(said, nullptr) : otherwise;
}

// What is done to the fleet, an event each second.
class Trouble {
 public:
  Trouble(World& world, Fleet& fleet, const std::string& origin, scenario::DiskFaults& faults,
          unsigned seed)
      : world_(world), fleet_(fleet), origin_(origin), faults_(faults), random_(seed) {}

  void make() {
    const auto kind = random_() % 40;
    if (kind < 22) return purge();
    if (kind < 24) return purge_all();
    if (kind < 32) return world_.change(World::kSmall + random_() % World::kLarge);
    // The first proxy is never ended: its memory is to stay flat.
    if (kind == 32) return fleet_.restart(1 + random_() % 2, Fleet::End::asked);
    if (kind == 33) return fleet_.restart(1 + random_() % 2, Fleet::End::killed);
    if (kind == 34) return during(1s, [this](bool on) { world_.fail(on); });
    if (kind == 35) return during(2s, [this](bool on) { fill_disk(on); });
  }

 private:
  template <class Switch>
  void during(std::chrono::seconds time, Switch turn) {
    turn(true);
    std::this_thread::sleep_for(time);
    turn(false);
  }

  void fill_disk(bool on) { on ? faults_.begin("full") : faults_.end("full"); }

  void purge() {
    const auto resource = random_() % 200;  // the popular ones
    const auto proxy = random_() % Fleet::kProxies;
    world_.change(resource);
    support::Client client(fleet_.port(proxy));
    const auto url = origin_ + World::path_of(resource);
    const auto answer = client.request("PURGE", url, scenario::kOnPurpose);
    EXPECT_TRUE(answer.status == 200 || answer.status == 404) << answer.status;
    // A purge that the disk has yet to write may be lost with the proxy.
    if (!support::contains(answer.body, "owed")) world_.purged(proxy, resource);
  }

  // Meets responses that are being stored. The popular resources change first.
  void purge_all() {
    for (std::size_t resource = 0; resource < 200; ++resource) world_.change(resource);
    const auto proxy = random_() % Fleet::kProxies;
    const auto port = origin_.substr(origin_.rfind(':') + 1);
    const auto order = support::json{{"host", "127.0.0.1:" + port}}.dump();
    const auto answer = fleet_.order(proxy, "/admin/purge", order);
    EXPECT_EQ(answer.status, 200) << answer.body;
    if (support::contains(answer.body, "owed")) return;
    for (std::size_t resource = 0; resource < World::kSmall; ++resource) {
      world_.purged(proxy, resource);
    }
  }

  World& world_;
  Fleet& fleet_;
  const std::string origin_;
  scenario::DiskFaults& faults_;
  std::mt19937_64 random_;
};

// The time that 99 of 100 answers took at most.
std::chrono::microseconds p99(std::vector<std::chrono::microseconds> times) {
  if (times.empty()) return 0us;
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 99 / 100);
  std::nth_element(times.begin(), at, times.end());
  return *at;
}

struct Minute {
  Seen seen;
  Usage usage;            // of the first proxy, at the end
  double mean_bytes = 0;  // of its memory, looked at each second
};

Minute live_through(std::chrono::seconds period, Trouble& trouble, Crowd& crowd,
                    const Fleet& fleet) {
  const auto until = Clock::now() + period;
  double sum = 0;
  int looks = 0;
  for (; Clock::now() < until; ++looks) {
    trouble.make();
    std::this_thread::sleep_for(1s);
    sum += static_cast<double>(fleet.usage(0).anonymous_bytes);
  }
  return {crowd.take(), fleet.usage(0), sum / looks};
}

void print(std::size_t number, const Minute& minute) {
  std::printf(
      "%5zu %8zu answers %5.1f %% hits %5zu excused p99 %7.1f ms %7.1f MiB %4zu fds %3zu threads\n",
      number, minute.seen.answers,
      100.0 * static_cast<double>(minute.seen.hits) /
          static_cast<double>(std::max<std::size_t>(minute.seen.answers, 1)),
      minute.seen.excused, static_cast<double>(p99(minute.seen.times).count()) / 1000,
      minute.mean_bytes / (1 << 20), minute.usage.descriptors, minute.usage.threads);
  std::fflush(stdout);
}

double mean_memory(const std::vector<Minute>& minutes, std::size_t from, std::size_t to) {
  double sum = 0;
  for (auto i = from; i < to; ++i) sum += minutes[i].mean_bytes;
  return sum / static_cast<double>(to - from);
}

// After the first quarter, in which caches fill, nothing grows.
void expect_flat(const std::vector<Minute>& minutes) {
  const auto quarter = minutes.size() / 4;
  const auto before = mean_memory(minutes, quarter, 2 * quarter);
  const auto after = mean_memory(minutes, 3 * quarter, minutes.size());
  EXPECT_LT(after, before * 1.02);
  EXPECT_EQ(minutes.back().usage.threads, minutes[quarter].usage.threads);
  EXPECT_LT(minutes.back().usage.descriptors, minutes[quarter].usage.descriptors + 50);
}

TEST(Soak, NothingIsWrongAndNothingGrows) {
  const auto seed = static_cast<unsigned>(number("HEARSAY_SEED", 1));
  const auto hours = number("HEARSAY_HOURS", 0);
  const auto period = hours > 0 ? 60s : 5s;
  const auto periods = hours > 0 ? static_cast<std::size_t>(hours * 60) : 6;

  scenario::DiskFaults faults;
  World world;
  support::ScriptedOrigin origin;
  origin.record_nothing();
  origin.otherwise([&](const support::Request& request) { return world.answer(request); });
  HostileNeighbour stranger(origin.url(""));
  Fleet fleet(stranger.port());
  Crowd crowd(world, fleet, origin.url(""), seed, 6);
  Trouble trouble(world, fleet, origin.url(""), faults, seed);

  std::vector<Minute> minutes;
  for (std::size_t i = 0; i < periods && crowd.faults().empty(); ++i) {
    minutes.push_back(live_through(period, trouble, crowd, fleet));
    print(i, minutes.back());
    EXPECT_GT(minutes.back().seen.answers, 0U);
  }
  for (const auto& fault : crowd.faults()) ADD_FAILURE() << fault;
  std::printf("the hostile neighbour sent %zu digests, and said %zu times that it has nothing\n",
              stranger.digests(), stranger.false_hits());
  EXPECT_GT(stranger.digests(), 0U);
  EXPECT_GT(stranger.false_hits(), 0U);
  const auto books = fleet.books(0, "stranger");
  EXPECT_GT(books.at("polls_failed"), 0) << "half of its digests are bad";
  EXPECT_GT(books.at("false_hits"), 0);
  EXPECT_TRUE(support::await([&] { return fleet.digests_in_use(0) == 1; })) << "of the others";
  if (hours > 0 && minutes.size() == periods && periods >= 8) expect_flat(minutes);
}

}  // namespace
}  // namespace soak

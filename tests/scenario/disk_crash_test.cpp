// kill -9 at any moment under mixed load: what is served afterwards is right, every byte, and
// nothing that was purged is back. HEARSAY_ROUNDS=200 for a long run.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/scenario/disk_scene.hpp"

namespace scenario {
namespace {

constexpr std::size_t kPages = 150;
constexpr std::size_t kLoaders = 3;

// What the origin has at each version of a URL: sizes from nothing to more than an I/O thread reads
// at once.
std::string content(std::size_t url, int version) {
  constexpr std::array<std::size_t, 5> kSizes{0, 100, 5'000, 70'000, 400'000};
  static const std::string all = numbered_bytes(kSizes.back());
  const std::string mark = std::to_string(url) + "/" + std::to_string(version) + ":";
  return mark + all.substr(0, kSizes[url % kSizes.size()]);
}

class Load {
 public:
  explicit Load(DiskScene& scene) : scene_(scene) {
    scene.origin.otherwise([this](const Request& request) {
      const std::size_t url = std::stoul(request.path.substr(1));
      const int version = current_[url];
      return cacheable(content(url, version)).with("ETag", '"' + std::to_string(version) + '"');
    });
  }

  void run() {
    over_ = false;
    ++runs_;
    for (std::size_t i = 0; i < kLoaders; ++i) {
      loaders_.emplace_back([this, i, port = scene_.proxy().port()] {
        ask(port, static_cast<unsigned>(i) + 10 * runs_);
      });
    }
  }
  void stop() {
    over_ = true;
    loaders_.clear();
  }
  std::size_t right() const { return right_; }
  std::size_t hits() const { return hits_; }
  std::size_t wrong() const { return wrong_; }

 private:
  void ask(std::uint16_t port, unsigned seed) {
    std::mt19937 random(seed);
    while (!over_) {
      try {
        Client client(port);
        while (!over_) ask_once(client, random);
      } catch (const std::exception&) {
        std::this_thread::yield();  // it was killed
      }
    }
  }

  void ask_once(Client& client, std::mt19937& random) {
    const std::size_t url = random() % kPages;
    const std::string address = scene_.origin.url("/" + std::to_string(url));
    const int least = purged_[url];
    if (random() % 20 == 0) {
      const int version = ++current_[url];
      const auto answer = client.request("PURGE", address, {{"X-Hearsay", "1"}});
      if (!answer.whole) return;
      int before = purged_[url];
      while (before < version && !purged_[url].compare_exchange_weak(before, version)) {
      }
      return;
    }
    const std::size_t first = random() % 50;
    const bool part = random() % 4 == 0;
    Fields fields;
    if (part)
      fields.emplace_back("Range",
                          "bytes=" + std::to_string(first) + "-" + std::to_string(first + 99));
    const auto response = client.get(address, fields);
    if (!response.whole || response.status == 416) return;
    bool good = false;
    for (int version = least; version <= current_[url] && !good; ++version) {
      const auto all = content(url, version);
      good = response.body ==
             (response.status == 206 ? all.substr(std::min(first, all.size()), 100) : all);
    }
    ++(good ? right_ : wrong_);
    if (!good)
      ADD_FAILURE() << address << ": " << response.start_line << " " << response.body.substr(0, 30)
                    << " of " << response.body.size() << " bytes, at least version " << least;
    if (is_hit(response)) ++hits_;
  }

  DiskScene& scene_;
  std::array<std::atomic<int>, kPages> current_{};  // at the origin
  std::array<std::atomic<int>, kPages>
      purged_{};  // what is older was purged, and that was answered
  std::atomic<bool> over_ = false;
  std::atomic<unsigned> runs_ = 0;
  std::atomic<std::size_t> right_ = 0, wrong_ = 0, hits_ = 0;
  std::vector<std::jthread> loaders_;
};

TEST(ACrash, AtAnyMomentLeavesNothingWrong) {
  const char* told = std::getenv("HEARSAY_ROUNDS");
  const int rounds = told ? std::atoi(told) : 6;
  DiskScene scene(json{{"cache", {{"memory", "8MiB"}}}, {"log", {{"access", "none"}}}});
  Load load(scene);
  std::mt19937 random(1);
  std::chrono::steady_clock::duration slowest{};
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    load.run();
    // Any moment, as it is neither ours to choose nor the program's: so many answers later.
    const auto answers = load.right() + 20 + random() % 600;
    EXPECT_TRUE(await([&] { return load.right() >= answers || load.wrong() > 0; }));
    scene.kill();
    load.stop();
    const auto begun = std::chrono::steady_clock::now();
    scene.begin();
    slowest = std::max(slowest, std::chrono::steady_clock::now() - begun);
    EXPECT_LE(scene.disk("used_bytes"), 64 << 20);
  }
  EXPECT_EQ(load.wrong(), 0U);
  EXPECT_GT(load.hits(), 0U);
  EXPECT_LT(slowest, std::chrono::seconds(1));
  std::cout << rounds << " rounds: " << load.right() << " answers right, " << load.hits()
            << " of them hits; slowest start "
            << std::chrono::duration_cast<std::chrono::milliseconds>(slowest).count() << " ms\n";
}

}  // namespace
}  // namespace scenario

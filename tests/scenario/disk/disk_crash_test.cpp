// kill -9 at any moment under mixed load: afterwards every byte served is right, and nothing purged
// is back. HEARSAY_ROUNDS=200 makes a long run.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/scenario/disk/disk_scene.hpp"

namespace scenario {
namespace {

constexpr std::size_t kPages = 150;  // the URLs after these are large, and kept in blocks
constexpr std::size_t kAllUrls = kPages + 5;
constexpr std::size_t kLoaders = 3;
constexpr std::size_t kMark = 16;

// Pages from 0 bytes to more than an I/O thread reads at once; objects of 5 to 9 MiB.
std::size_t size_of(std::size_t url) {
  constexpr std::array<std::size_t, 5> kSizes{0, 100, 5'000, 70'000, 400'000};
  if (url < kPages) return kMark + kSizes[url % kSizes.size()];
  return ((url - kPages + 5) << 20) + 100 * url;
}

// The body of each version of a URL. A mark every 4 KiB names both, so that all blocks differ.
std::string content(std::size_t url, int version, std::size_t first, std::size_t size) {
  constexpr std::size_t kEvery = 4096;
  static const std::string all = numbered_bytes(size_of(kAllUrls - 1) + kEvery);
  std::string mark = std::to_string(url) + "/" + std::to_string(version) + ":";
  mark.resize(kMark, '.');
  const std::size_t start = first / kEvery * kEvery;
  const std::size_t end = std::min(size_of(url), first + std::min(size, size_of(url)));
  if (start >= end) return {};
  std::string bytes = all.substr(start, end - start);
  for (std::size_t at = 0; at < bytes.size(); at += kEvery) {
    bytes.replace(at, std::min(kMark, bytes.size() - at), mark, 0, bytes.size() - at);
  }
  return bytes.substr(first - start);
}

struct Asked {
  std::size_t first = 0;
  std::size_t size = std::string::npos;
};

// Reads "bytes=5-9" and "bytes=5-" only.
Asked asked_of(const std::string& range) {
  const std::size_t first = std::stoul(range.substr(6));
  const std::string last = range.substr(range.find('-') + 1);
  if (last.empty()) return {first};
  return {first, std::stoul(last) - first + 1};
}

Reply answer_of(const Request& request, std::size_t url, int version) {
  const std::string tag = '"' + std::to_string(version) + '"';
  const std::string range = request.field("Range");
  const bool same = !request.has("If-Range") || request.field("If-Range") == tag;
  if (range.empty() || !same) {
    return cacheable(content(url, version, 0, size_of(url))).with("ETag", tag);
  }
  const auto [first, size] = asked_of(range);
  const std::string total = '/' + std::to_string(size_of(url));
  if (first >= size_of(url)) return Reply(416, {{"Content-Range", "bytes *" + total}});
  auto bytes = content(url, version, first, size);
  const auto last = std::to_string(first + bytes.size() - 1);
  auto part = Reply(206, {{"ETag", tag}, {"Cache-Control", "max-age=3600"}});
  part.with("Content-Range", "bytes " + std::to_string(first) + '-' + last + total);
  return part.body(std::move(bytes));
}

class Load {
 public:
  explicit Load(DiskScene& scene) : scene_(scene) {
    scene.origin.otherwise([this](const Request& request) {
      const std::size_t url = std::stoul(request.path.substr(1));
      return answer_of(request, url, current_[url]);
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
  std::size_t large_hits() const { return large_hits_; }
  std::size_t wrong() const { return wrong_; }

 private:
  void ask(std::uint16_t port, unsigned seed) {
    std::mt19937 random(seed);
    while (!over_) {
      try {
        Client client(port);
        while (!over_) ask_once(client, random);
      } catch (const std::exception&) {
        std::this_thread::yield();  // the proxy was killed
      }
    }
  }

  void ask_once(Client& client, std::mt19937& random) {
    const bool large = random() % 8 == 0;
    const std::size_t url = large ? kPages + random() % (kAllUrls - kPages) : random() % kPages;
    if (random() % 20 == 0) return purge(client, url);
    Asked asked;
    Fields fields;
    if (random() % 4 == 0 || (large && random() % 4 != 0)) {
      asked = large ? Asked{random() % size_of(url), 1 + random() % (3 << 20)}
                    : Asked{random() % 50, 100};
      fields.emplace_back("Range", "bytes=" + std::to_string(asked.first) + "-" +
                                       std::to_string(asked.first + asked.size - 1));
    }
    get(client, url, asked, fields);
  }

  void purge(Client& client, std::size_t url) {
    const int version = ++current_[url];
    const auto answer = client.request("PURGE", address(url), kOnPurpose);
    if (!answer.whole) return;
    int before = purged_[url];
    while (before < version && !purged_[url].compare_exchange_weak(before, version)) {
    }
  }

  void get(Client& client, std::size_t url, Asked asked, const Fields& fields) {
    const int least = purged_[url];
    const auto response = client.get(address(url), fields);
    if (!response.whole || response.status == 416) return;
    if (response.status == 200) asked = {};
    bool good = false;
    for (int version = least; version <= current_[url] && !good; ++version) {
      good = response.body == content(url, version, asked.first, asked.size);
    }
    ++(good ? right_ : wrong_);
    if (!good)
      ADD_FAILURE() << address(url) << ": " << response.start_line << " "
                    << response.field("Content-Range") << " " << response.body.substr(0, 30)
                    << " of " << response.body.size() << " bytes, at least version " << least;
    if (is_hit(response)) ++hits_;
    if (url >= kPages && is_hit(response)) ++large_hits_;
  }

  std::string address(std::size_t url) { return scene_.origin.url("/" + std::to_string(url)); }

  DiskScene& scene_;
  std::array<std::atomic<int>, kAllUrls> current_{};  // the version at the origin
  std::array<std::atomic<int>, kAllUrls>
      purged_{};  // older versions were purged, and the purge was answered
  std::atomic<bool> over_ = false;
  std::atomic<unsigned> runs_ = 0;
  std::atomic<std::size_t> right_ = 0, wrong_ = 0, hits_ = 0, large_hits_ = 0;
  std::vector<std::jthread> loaders_;
};

TEST(ACrash, AtAnyMomentLeavesNothingWrong) {
  const char* told = std::getenv("HEARSAY_ROUNDS");
  const int rounds = told ? std::atoi(told) : 6;
  DiskScene scene(json{{"cache", {{"memory", "16MiB"}}}, {"log", {{"access", "none"}}}});
  Load load(scene);
  std::mt19937 random(1);
  std::vector<std::chrono::steady_clock::duration> starts;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    load.run();
    // The number of answers decides the moment, so neither the test nor the program chooses it.
    const auto answers = load.right() + 20 + random() % 600;
    EXPECT_TRUE(await([&] { return load.right() >= answers || load.wrong() > 0; }));
    scene.kill();
    load.stop();
    const auto begun = std::chrono::steady_clock::now();
    scene.begin();
    starts.push_back(std::chrono::steady_clock::now() - begun);
    EXPECT_LE(scene.disk("used_bytes"), 64 << 20);
  }
  EXPECT_EQ(load.wrong(), 0U);
  EXPECT_GT(load.hits(), 0U);
  EXPECT_GT(load.large_hits(), 0U);
  std::sort(starts.begin(), starts.end());
  // Other tests on the machine may delay one start. A long run has the machine for itself.
  const auto slowest = starts.back();
  EXPECT_LT(told ? slowest : starts[starts.size() / 2], allowed(std::chrono::seconds(1)));
  std::cout << rounds << " rounds: " << load.right() << " answers right, " << load.hits()
            << " of them hits, " << load.large_hits() << " of large objects; slowest start "
            << std::chrono::duration_cast<std::chrono::milliseconds>(slowest).count() << " ms\n";
}

}  // namespace
}  // namespace scenario

// Large bodies that are sent from the disk's files, without passing through our memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

#include "tests/scenario/disk/disk_scene.hpp"
#include "tests/support/successors.hpp"

namespace scenario {
namespace {

constexpr std::size_t kLarge = 3'000'000;

// The first byte of this text in a segment: the file and the offset.
struct Place {
  std::filesystem::path file;
  std::size_t offset = 0;
};
Place find(const std::filesystem::path& directory, std::string_view text) {
  for (const auto& item : std::filesystem::directory_iterator(directory)) {
    if (item.path().extension() != ".segment") continue;
    const auto at = read_file(item.path()).find(text);
    if (at != std::string::npos) return {item.path(), at};
  }
  return {};
}

// Changes a byte on the disk. `leave`: takes the file's pages out of the page cache.
enum class Pages { stay, leave };
void damage(const Place& place, Pages pages) {
  const int file = ::open(place.file.c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::pwrite(file, "\x7f", 1, static_cast<off_t>(place.offset)), 1);
  ASSERT_EQ(::fsync(file), 0);
  if (pages == Pages::leave) ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
}

// The bytes of the segments that the process still has open though they were removed.
std::uintmax_t bytes_of_removed_files(pid_t process) {
  std::uintmax_t bytes = 0;
  std::error_code ignored;
  const auto descriptors = "/proc/" + std::to_string(process) + "/fd";
  for (const auto& item : std::filesystem::directory_iterator(descriptors, ignored)) {
    const auto target = std::filesystem::read_symlink(item.path(), ignored).string();
    if (!contains(target, ".segment (deleted)")) continue;
    bytes += std::filesystem::file_size(item.path(), ignored);
  }
  return bytes;
}

struct FromFile : DiskScene {
  explicit FromFile(const json& more = json::object()) : DiskScene(more) {
    origin.on("/large", cacheable(large).with("ETag", "\"e\""));
    origin.on("/100k", cacheable(some).with("ETag", "\"e\""));
    for (const char* path : {"/large", "/100k"}) get(path);
    settle(2);
  }
  // Once the disk has answered, its index is loaded and takes no more memory.
  double memory_once_loaded() {
    EXPECT_TRUE(is_hit(get("/large")));
    return proxy().metric("hearsay_memory_used_bytes");
  }

  const std::string large = numbered_bytes(kLarge);
  const std::string some = std::string(large.rbegin(), large.rbegin() + (100 << 10));
};

// A client that asks for more than the sockets take, and does not read on.
class Stalled {
 public:
  explicit Stalled(FromFile& scene) : scene_(scene), client_(scene.proxy().port()) {
    std::string all;
    for (int i = 0; i < kResponses; ++i) all += request_text("GET", scene.origin.url("/large"));
    client_.send(all);
    first_ = client_.read_head();
  }
  // The number of responses that arrive whole, until one does not.
  int read() {
    int whole = first_is_whole() ? 1 : 0;
    while (whole > 0 && whole < kResponses && is_whole(client_.read())) ++whole;
    return whole;
  }
  bool first_is_whole() {
    client_.read_rest(first_);
    return is_whole(first_);
  }
  bool is_whole(const Response& response) const {
    return response.whole && response.body == scene_.large;
  }
  static constexpr int kResponses = 5;

 private:
  FromFile& scene_;
  Client client_;
  Response first_;
};

TEST(ABodyInAFile, IsAHitFromDiskEachTimeAndTakesNoMemory) {
  FromFile scene;
  scene.restart();
  const auto before = scene.proxy().metric("hearsay_memory_used_bytes");
  for (int i = 0; i < 3; ++i) {
    for (const auto& [path, body] :
         {std::pair("/large", &scene.large), std::pair("/100k", &scene.some)}) {
      const Response hit = scene.get(path);
      EXPECT_TRUE(is_hit(hit));
      EXPECT_TRUE(hit.body == *body) << path;
      EXPECT_TRUE(await([&] { return scene.how(path) == "TCP_HIT"; })) << scene.how(path);
      const auto line = scene.proxy().logged(scene.origin.url(path));
      EXPECT_GT(line.bytes, body->size());
      EXPECT_LT(line.bytes, body->size() + 1000);
    }
  }
  EXPECT_LT(scene.proxy().metric("hearsay_memory_used_bytes"), before + 65536);
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(ABodyInAFile, IsNotHeldInMemoryOnceItIsWritten) {
  FromFile scene;
  EXPECT_LT(scene.proxy().metric("hearsay_memory_used_bytes"), kLarge);
  for (const char* path : {"/large", "/100k"}) EXPECT_TRUE(is_hit(scene.get(path)));
  // Not the log: each thread writes its lines by itself, so the last line may be older.
  EXPECT_EQ(scene.proxy().metric("hearsay_requests_total{result=\"disk_hit\"}"), 2);
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(ABodyInAFile, FollowsItsHeadOnAConnectionForManyRequests) {
  FromFile scene;
  scene.restart();
  Client client(scene.proxy().port());
  std::string all;
  for (int i = 0; i < 8; ++i) all += request_text("GET", scene.origin.url("/100k"));
  client.send(all);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(client.read().body == scene.some) << i;
  EXPECT_TRUE(client.get(scene.origin.url("/large")).body == scene.large);
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(ABodyInAFile, AnswersTheKindsOfRequestsAsFromMemory) {
  FromFile scene;
  scene.restart();
  const auto before = scene.memory_once_loaded();
  const Response head = scene.ask("HEAD", "/100k");
  EXPECT_EQ(head.field("Content-Length"), std::to_string(100 << 10));
  EXPECT_LT(scene.proxy().metric("hearsay_memory_used_bytes"), before + 65536) << "needs no body";
  EXPECT_TRUE(scene.get("/100k", {{"Range", "bytes=5000-70000"}}).body ==
              scene.some.substr(5000, 65001));
  scene.restart();
  EXPECT_EQ(scene.get("/100k", {{"If-None-Match", "\"e\""}}).status, 304);
  EXPECT_TRUE(scene.get("/100k", {{"If-None-Match", "\"f\""}}).body == scene.some);
  EXPECT_TRUE(scene.get("/100k", {{"Range", "bytes=5000-70000"}}).body ==
              scene.some.substr(5000, 65001));
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(ABodyInAFile, IsValidatedOnceStale) {
  FromFile scene;
  scene.origin.on("/stale", [&](const Request& request) {
    if (request.field("If-None-Match") == "\"v1\"") {
      return Reply(304, {{"ETag", "\"v1\""}, {"Cache-Control", "max-age=60"}, {"X-Round", "2"}});
    }
    return cacheable(scene.some, "max-age=0").with("ETag", "\"v1\"");
  });
  scene.get("/stale");
  scene.settle(3);
  scene.restart();
  for (int i = 0; i < 2; ++i) {
    const Response response = scene.get("/stale");
    EXPECT_EQ(response.field("X-Round"), "2");
    EXPECT_TRUE(response.body == scene.some);
  }
  EXPECT_EQ(scene.origin.count("/stale"), 2U);
  scene.settle(1);
  scene.restart();  // now a newer head leads to the body
  EXPECT_TRUE(scene.get("/stale").body == scene.some);
  EXPECT_EQ(scene.origin.count("/stale"), 2U);
}

TEST(ABodyInAFile, IsNeverServedDamaged) {
  FromFile scene;
  scene.restart();
  const auto place = find(scene.directory(), scene.some.substr(90'000, 60));
  damage(place, Pages::stay);
  const Response first = scene.get("/100k");
  EXPECT_TRUE(first.body == scene.some);
  EXPECT_FALSE(is_hit(first));
  EXPECT_EQ(scene.disk("corrupt_total"), 1);
  EXPECT_TRUE(contains(scene.proxy().process().errors(), scene.origin.url("/100k")));
}

TEST(ABodyInAFile, IsCheckedAgainOnceItLeftThePageCache) {
  FromFile scene;
  scene.restart();
  EXPECT_TRUE(is_hit(scene.get("/100k")));
  damage(find(scene.directory(), scene.some.substr(90'000, 60)), Pages::leave);
  const Response again = scene.get("/100k");
  EXPECT_TRUE(again.body == scene.some);
  EXPECT_FALSE(is_hit(again));
  EXPECT_EQ(scene.disk("corrupt_total"), 1);
}

TEST(ABodyInAFile, TakesNoMemoryForASlowClient) {
  FromFile scene;
  scene.restart();
  const auto before = scene.memory_once_loaded();
  Stalled client(scene);
  EXPECT_TRUE(scene.get("/100k").body == scene.some);
  EXPECT_LT(scene.proxy().metric("hearsay_memory_used_bytes"), before + kLarge / 2);
  EXPECT_EQ(client.read(), Stalled::kResponses);
  EXPECT_EQ(scene.origin.count(), 2U);
}

TEST(ABodyInAFile, SurvivesThatItsSegmentIsReclaimed) {
  FromFile scene;
  scene.restart();
  Stalled client(scene);
  const auto file = find(scene.directory(), scene.large.substr(2'000'000, 60)).file;
  scene.origin.otherwise([&](const Request&) { return cacheable(scene.large); });
  int more = 0;
  ASSERT_TRUE(await([&] {
    scene.get("/more/" + std::to_string(++more));
    return !std::filesystem::exists(file);
  }));
  // The client does not read on, and the proxy still has the file, but it takes no space.
  EXPECT_EQ(bytes_of_removed_files(scene.proxy().process().pid()), 0U);
  EXPECT_EQ(client.read(), Stalled::kResponses) << scene.proxy().process().errors();
}

TEST(ABodyInAFile, IsCutForAClientThatDoesNotRead) {
  FromFile scene(json{{"timeouts", {{"body", "1s"}}}});
  scene.restart();
  Stalled client(scene);
  // Whole ones, perhaps, and then a cut one.
  EXPECT_TRUE(await([&] {
    const auto line = scene.proxy().logged(scene.origin.url("/large"));
    return line.bytes < static_cast<long>(kLarge);
  }));
  EXPECT_LT(client.read(), Stalled::kResponses);
}

// bandwidth_test.cpp measures the rates, of bodies that come from memory.
TEST(ABodyInAFile, KeepsToEachLimitOfBandwidth) {
  using Clock = std::chrono::steady_clock;
  for (const char* limit : {"bandwidth", "bandwidth_per_client"}) {
    FromFile scene(json{{"limits", {{limit, "4MiB"}}}, {"timeouts", {{"body", "100ms"}}}});
    scene.restart();
    const auto begin = Clock::now();
    for (int i = 0; i < 2; ++i) {
      const Response hit = scene.get("/large");
      EXPECT_TRUE(is_hit(hit));
      EXPECT_TRUE(hit.body == scene.large) << limit;
    }
    // Without a limit, 6,000,000 bytes take some milliseconds.
    EXPECT_GT(Clock::now() - begin, std::chrono::milliseconds(700)) << limit;
    EXPECT_TRUE(await([&] { return scene.how("/large") == "TCP_HIT"; })) << scene.how("/large");
  }
}

TEST(ABodyInAFile, IsWholeForClientsThatShareTheBandwidth) {
  FromFile scene(json{{"limits", {{"bandwidth", "8MiB"}}}});
  scene.restart();
  std::vector<std::unique_ptr<Client>> clients;
  for (std::uint8_t from = 1; from <= 3; ++from) {
    clients.push_back(std::make_unique<Client>(scene.proxy().port(), from));
    clients.back()->send(request_text("GET", scene.origin.url("/large")));
  }
  for (const auto& client : clients) EXPECT_TRUE(client->read().body == scene.large);
}

TEST(ABodyInAFile, IsAnsweredWithTheLastHeadOnly) {
  FromFile scene;
  scene.restart();
  int edition = 0;
  scene.origin.on("/100k", [&](const Request&) {
    return cacheable(scene.some).with("X-Edition", std::to_string(++edition));
  });
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(is_hit(scene.get("/100k")));
  // A reload by the client replaces it.
  EXPECT_EQ(scene.get("/100k", {{"Cache-Control", "no-cache"}}).field("X-Edition"), "1");
  scene.settle(1);
  scene.restart();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(scene.get("/100k").field("X-Edition"), "1");
  // A purge removes it at once.
  EXPECT_EQ(scene.ask("PURGE", "/100k", kOnPurpose).status, 200);
  EXPECT_FALSE(scene.holds("/100k"));
  EXPECT_EQ(scene.get("/100k").field("X-Edition"), "2");
  scene.settle(2);
  // So does a request that changes the resource (RFC 9111 4.4).
  scene.restart();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(scene.get("/100k").field("X-Edition"), "2");
  scene.ask("POST", "/100k", {}, "x");
  const Response last = scene.get("/100k");
  EXPECT_FALSE(is_hit(last));
  EXPECT_EQ(last.field("X-Edition"), std::to_string(edition));
}

TEST(ABodyInAFile, IsSentWholeDuringATakeOver) {
  FromFile scene;
  scene.restart();
  support::Successors successors(scene.proxy().process());
  Stalled client(scene);
  ASSERT_TRUE(successors.succeed());
  EXPECT_TRUE(scene.get("/large").body == scene.large);
  EXPECT_TRUE(client.first_is_whole());
  EXPECT_EQ(scene.origin.count(), 2U);
}

}  // namespace
}  // namespace scenario

// What a request takes of the heap.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>

#include "tests/scenario/scene.hpp"
#include "tests/support/patience.hpp"

namespace scenario {
namespace {

// Counts the allocations of the programs that are started while this object lives: by a library
// that stands before their allocator, in the program as it is shipped. Programs with a sanitizer do
// not start with it, and are not counted.
class CountedMemory {
 public:
  CountedMemory() {
    if (kSanitized) return;
    write_file(file_, std::string(sizeof(std::uint64_t), '\0'));
    ::setenv("LD_PRELOAD", HEARSAY_COUNTED_MEMORY_LIBRARY, 1);
    ::setenv("HEARSAY_ALLOCATIONS", file_.c_str(), 1);
  }
  ~CountedMemory() {
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("HEARSAY_ALLOCATIONS");
  }
  CountedMemory(const CountedMemory&) = delete;
  CountedMemory& operator=(const CountedMemory&) = delete;

  std::uint64_t allocations() const {
    const auto bytes = read_file(file_);
    std::uint64_t count = 0;
    std::memcpy(&count, bytes.data(), sizeof count);
    return count;
  }

 private:
  TemporaryDirectory home_;
  std::filesystem::path file_ = home_ / "allocations";
};

class Allocations : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the sanitizer's allocator comes first";
  }

  // Allocations per request, on a connection that has served some before. Counts the batch with the
  // fewest, and batches are short: the other threads' work, the sample of requests for the
  // dashboard, and bodies that a busy machine sends apart from their heads fall into others.
  double per_request(std::string_view path, const Fields& fields = {}) {
    return per_request([url = scene_.origin.url(path)](int) { return url; }, fields);
  }
  // `url_of`: the URL of a request, by its number.
  double per_request(const std::function<std::string(int)>& url_of, const Fields& fields = {}) {
    constexpr int kBatch = 5;
    for (int i = -300; i < 0; ++i) scene_.client.get(url_of(i), fields);
    auto fewest = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < 600 * kBatch; i += kBatch) {
      const auto before = counted_.allocations();
      for (int n = i; n < i + kBatch; ++n) scene_.client.get(url_of(n), fields);
      fewest = std::min(fewest, counted_.allocations() - before);
    }
    return static_cast<double>(fewest) / kBatch;
  }

  static const Reply unstored_;
  static constexpr double kNone = 0.1;

  CountedMemory counted_;
  Scene scene_{{{"threads", 1}}};
};

const Reply Allocations::unstored_ =
    cacheable(std::string(1024, 'x'), "no-store").with("Date", "Wed, 25 Nov 2026 20:00:00 GMT");

TEST_F(Allocations, OfAHitInMemoryAreNone) {
  scene_.origin.on("/a-path-of-some-length/of-one-KiB",
                   cacheable(std::string(1024, 'x')).with("Content-Type", "text/plain"));
  EXPECT_LT(per_request("/a-path-of-some-length/of-one-KiB"), kNone);
}

TEST_F(Allocations, OfAHitAreNoneForTheFieldsOfABrowser) {
  scene_.origin.on("/app.js", cacheable(std::string(100'000, 'x'))
                                  .with("Content-Type", "application/javascript; charset=utf-8"));
  const Fields browser{
      {"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101"},
      {"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
      {"Accept-Language", "en-US,en;q=0.5"},
      {"Accept-Encoding", "gzip, deflate, br, zstd"},
      {"Connection", "keep-alive"},
      {"Cookie", "session=0123456789abcdef0123456789abcdef"},
      {"Sec-Fetch-Dest", "script"},
      {"Priority", "u=0, i"}};
  EXPECT_LT(per_request("/app.js", browser), kNone);
}

// The head for the origin, the URL, the head of the response, and two of the body: the block and
// its bytes. A Date that the proxy has to add would be a sixth.
TEST_F(Allocations, OfAMissThatIsNotStoredAreFive) {
  scene_.origin.otherwise([](const Request&) { return unstored_; });
  const auto made =
      per_request([this](int i) { return scene_.origin.url("/" + std::to_string(i)); });
  EXPECT_NEAR(made, 5, kNone);
}

// The two heads: the body goes on from where it was received, and the URL is not copied.
TEST_F(Allocations, OfAMissForOneClientAreTwo) {
  scene_.origin.on("/miss", unstored_);
  EXPECT_NEAR(per_request("/miss"), 2, kNone);
}

}  // namespace
}  // namespace scenario

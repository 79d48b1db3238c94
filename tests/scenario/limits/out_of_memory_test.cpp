// Allocations fail under a limit of the address space: the cache gives memory up, and says so.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/scenario/scene.hpp"
#include "tests/support/patience.hpp"

namespace scenario {
namespace {

constexpr std::size_t kOfTheLarge = 3'000'000;

// What the process has mapped, in bytes.
std::uint64_t address_space(pid_t process) {
  const auto status = read_file("/proc/" + std::to_string(process) + "/status");
  constexpr std::string_view kLine = "VmSize:";
  return std::stoull(status.substr(status.find(kLine) + kLine.size())) * 1024;
}

class OutOfMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the sanitizer maps what it likes";
    scene_.origin.otherwise([](const Request& request) {
      return cacheable(std::string(request.path.starts_with("/large") ? kOfTheLarge : 10'000, 'x'));
    });
    const auto limit = address_space(scene_.proxy.process().pid()) + (std::uint64_t{150} << 20);
    const rlimit limits{limit, limit};
    ASSERT_EQ(::prlimit(scene_.proxy.process().pid(), RLIMIT_AS, &limits, nullptr), 0);
  }

  // How many of these come whole, each over a connection of its own.
  int whole(const std::string& path, int count) {
    int good = 0;
    for (int i = 0; i < count; ++i) {
      try {
        Client client(scene_.proxy.port());
        const auto response = client.get(scene_.origin.url(path + std::to_string(i)));
        good += response.status == 200 && response.whole ? 1 : 0;
      } catch (const std::exception&) {
        // was cut
      }
    }
    return good;
  }
  json reasons() { return json::parse(scene_.proxy.page("/health").body).at("reasons"); }

  Scene scene_{json{{"cache", {{"memory", "1GiB"}}}}};
};

TEST_F(OutOfMemory, TheCacheGivesMemoryUpAndServesOn) {
  EXPECT_EQ(reasons(), json::array());
  EXPECT_GE(whole("/large/a", 100), 90) << "300 MB, of which half would fit";
  ASSERT_TRUE(await([&] { return !reasons().empty(); })) << scene_.proxy.process().errors();
  EXPECT_EQ(reasons().at(0).at("what"), "memory");
  EXPECT_TRUE(contains(reasons().at(0).at("text").get<std::string>(), "allocations failed"));
  EXPECT_TRUE(contains(scene_.proxy.process().errors(), "in place of 896 MiB"));
  EXPECT_GE(whole("/large/b", 50), 48);
  EXPECT_EQ(whole("/small/c", 200), 200);
  EXPECT_GE(whole("/large/d", 50), 48);
  EXPECT_TRUE(is_hit(scene_.client.get(scene_.origin.url("/large/d49")))) << "it is stored, too";
  EXPECT_EQ(scene_.proxy.terminate(), 0);
}

}  // namespace
}  // namespace scenario

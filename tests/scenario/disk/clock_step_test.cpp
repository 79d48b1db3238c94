// The clock of the machine is set while the proxy runs, or while it does not.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include "tests/scenario/disk/disk_scene.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

constexpr seconds kDay = 24h;
constexpr seconds kYear = 365 * kDay;

// The programs that are started while this object lives have a clock that is ahead.
class WrongClock {
 public:
  WrongClock() {
    set(0s);
    ::setenv("LD_PRELOAD", HEARSAY_WRONG_CLOCK_LIBRARY, 1);
    ::setenv("HEARSAY_CLOCK_AHEAD", file().c_str(), 1);
    ::setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 0);
  }
  ~WrongClock() {
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("HEARSAY_CLOCK_AHEAD");
  }
  // The programs have mapped the file, so it keeps its inode.
  void set(seconds ahead) {
    const std::int64_t number = ahead.count();
    std::array<char, sizeof number> bytes{};
    std::memcpy(bytes.data(), &number, sizeof number);
    std::fstream out(file(), std::ios::in | std::ios::out | std::ios::binary);
    if (!out.is_open()) out.open(file(), std::ios::out | std::ios::binary);
    out.write(bytes.data(), bytes.size());
  }

 private:
  std::filesystem::path file() const { return home_ / "ahead"; }

  TemporaryDirectory home_;
};

std::string date_now() {
  const std::time_t time = std::time(nullptr);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", std::gmtime(&time));
  return text.data();
}

struct Case {
  const char* name;
  std::size_t body;  // a large one is answered from the disk, a small one from memory
  seconds step;
};

class AStepOfTheClock : public testing::TestWithParam<Case>, public WrongClock, public DiskScene {
 protected:
  AStepOfTheClock() {
    origin.otherwise([this](const Request& request) {
      const auto lifetime = request.path == "/list" ? "max-age=2" : "max-age=3600";
      Reply reply(200, {{"Cache-Control", lifetime}, {"ETag", "\"e\""}});
      if (dated_) reply.with("Date", date_now());
      return reply.body(std::string(GetParam().body, 'x'));
    });
  }
  std::size_t asked(const std::string& path) const { return origin.count(path); }
  // Whether requests for /list, again and again, reach the origin.
  bool list_ages() {
    const auto before = asked("/list");
    return await([&] { return (get("/list"), asked("/list") > before); });
  }
  std::size_t segments() const {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(directory())) {
      count += file.path().extension() == ".segment" ? 1 : 0;
    }
    return count;
  }
  std::string health_status() { return json::parse(proxy().page("/health").body).at("status"); }
  bool said(std::string_view text) {
    return await([&] { return contains(proxy().process().errors(), text); });
  }

  std::atomic<bool> dated_ = false;
};

INSTANTIATE_TEST_SUITE_P(Of, AStepOfTheClock,
                         testing::Values(Case{"MemoryADayBack", 100, -kDay},
                                         Case{"DiskADayBack", 700'000, -kDay},
                                         Case{"MemoryAYearAhead", 100, kYear},
                                         Case{"DiskAYearAhead", 700'000, kYear}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(AStepOfTheClock, LeavesAgesToRunOnAndIsSaid) {
  for (const char* path : {"/page", "/list"}) get(path);
  settle(2);
  set(GetParam().step);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(is_hit(get("/page")));
  EXPECT_LE(std::stoi(get("/page").field("Age")), 60);
  EXPECT_TRUE(list_ages()) << "what was stored before";
  EXPECT_TRUE(list_ages()) << "what was stored since";
  EXPECT_EQ(asked("/page"), 1U);
  EXPECT_TRUE(said(GetParam().step < 0s ? "this machine was set back by "
                                        : "this machine was set ahead by "));
  const json reasons = json::parse(proxy().page("/health").body).at("reasons");
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons.at(0).at("what"), "clock");
}

// The first start reads records of a process that had another clock, and nobody saw the step.
TEST_P(AStepOfTheClock, BetweenTwoRunsIsFollowedByAValidationAndNoMore) {
  for (const char* path : {"/page", "/list"}) get(path);
  settle(2);
  end();
  set(GetParam().step);
  begin();
  for (int i = 0; i < 5; ++i) get("/page");
  EXPECT_EQ(asked("/page"), 2U);
  EXPECT_TRUE(is_hit(get("/page")));
  EXPECT_TRUE(list_ages());
  EXPECT_TRUE(list_ages());
}

TEST_P(AStepOfTheClock, IsKnownToTheNextRun) {
  for (const char* path : {"/page", "/list"}) get(path);
  settle(2);
  set(GetParam().step);
  EXPECT_TRUE(await([&] { return segments() == 2; })) << "the second one tells of the step";
  get("/since");
  settle(3);
  restart();
  for (const char* path : {"/page", "/since"}) EXPECT_TRUE(is_hit(get(path))) << path;
  EXPECT_LE(std::stoi(get("/page").field("Age")), 60);
  EXPECT_TRUE(list_ages());
}

TEST_P(AStepOfTheClock, ThatIsUndoneLeavesNothing) {
  dated_ = true;
  for (const char* path : {"/page", "/list"}) get(path);
  settle(2);
  set(GetParam().step);
  get("/page");
  get("/meanwhile");
  EXPECT_TRUE(said("this machine was set "));
  set(0s);
  for (int i = 0; i < 20; ++i) {
    get("/page");
    get("/meanwhile");
  }
  EXPECT_EQ(asked("/page"), 1U);
  EXPECT_LE(asked("/meanwhile"), 2U) << "its Date made it look old when it arrived";
  EXPECT_TRUE(list_ages());
  EXPECT_TRUE(await([&] { return health_status() == "ok"; }));
}

}  // namespace
}  // namespace scenario

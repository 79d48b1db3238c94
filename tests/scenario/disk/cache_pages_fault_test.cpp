// The cache pages of a running proxy whose disk hangs or is slow.
#include "tests/scenario/disk/cache_pages.hpp"
#include "tests/scenario/disk/failing_disk.hpp"

namespace scenario {
namespace {

constexpr const char* kList = "/admin/cache/list";
constexpr const char* kVerify = "/admin/cache/verify";

class ACacheThatIsLookedInto : public ADiskThatFails {
 protected:
  Response page(const char* method, const std::string& path) {
    return ask_page(scene_.proxy(), method, path);
  }
  Response verify() { return page("POST", kVerify); }
  // Requests a page, and returns once the head of the response has come.
  std::unique_ptr<Client> begin(const char* method, const char* path) {
    auto client = std::make_unique<Client>(scene_.proxy().port());
    client->send(origin_form_text(scene_.proxy().address(), method, path, kOnPurpose));
    answer_ = client->read_head(method);
    return client;
  }
  bool verify_begins() {
    const auto client = begin("POST", kVerify);
    return answer_.status == 200;
  }
  static void expect_cut(const Response& answer, std::string_view why) {
    EXPECT_FALSE(answer.whole);
    const auto lines = lines_of(answer.body);
    ASSERT_FALSE(lines.empty());
    EXPECT_TRUE(contains(lines.back().value("error", ""), why)) << answer.body;
  }

  Response answer_;
};

TEST_F(ACacheThatIsLookedInto, ByHangingEndsThePageAndTheCommandWithAReason) {
  store_on_disk({"/a", "/b"});
  faults_.begin("reads_hang");
  const auto begun = Steady::now();
  const Outcome list = run_cache({"list"}, scene_.directory(), scene_.proxy().port());
  EXPECT_LT(Steady::now() - begun, allowed(std::chrono::seconds(8)));
  EXPECT_EQ(list.exit_code, 2);
  EXPECT_TRUE(contains(list.errors, "broke off: the disk does not answer")) << list.errors;
  expect_cut(page("GET", kList), "does not answer");
  expect_cut(page("GET", "/admin/cache/show?url=" + scene_.origin.url("/a")), "does not answer");
  expect_cut(verify(), "does not answer");
  faults_.end("reads_hang");
  EXPECT_TRUE(await([&] { return page("GET", kList).whole; }));
  EXPECT_TRUE(await([&] { return verify().whole; }));
}

TEST_F(ACacheThatIsLookedInto, ByHangingIsVerifiedOnceAtATime) {
  store_on_disk({"/a"});
  faults_.begin("reads_hang");
  const auto first = begin("POST", kVerify);
  EXPECT_EQ(verify().status, 409);
  first->read_rest(answer_);
  expect_cut(answer_, "does not answer");
  EXPECT_TRUE(await([&] { return verify().status == 200; }));
  faults_.end("reads_hang");
}

TEST_F(ACacheThatIsLookedInto, ByHangingDoesNotHoldUpTheEnd) {
  store_on_disk({"/a"});
  faults_.begin("reads_hang");
  const auto client = begin("GET", kList);
  const auto begun = Steady::now();
  scene_.proxy().process().signal(SIGTERM);
  client->read_rest(answer_);
  EXPECT_LT(Steady::now() - begun, allowed(std::chrono::seconds(1)));
  expect_cut(answer_, "the proxy is ending");
  EXPECT_EQ(scene_.proxy().process().wait(), 0);
  faults_.end("reads_hang");
}

TEST_F(ACacheThatIsLookedInto, ByBeingSlowIsVerifiedNoLongerThanTheClientStays) {
  store_on_disk(numbered_paths(800));
  faults_.begin("reads_slow");
  const auto begun = Steady::now();
  const auto client = begin("POST", kVerify);
  ASSERT_EQ(answer_.status, 200);
  EXPECT_FALSE(verify_begins());
  client->leave();
  EXPECT_TRUE(await([&] { return verify_begins(); }));
  EXPECT_LT(Steady::now() - begun, allowed(std::chrono::seconds(7))) << "to the end it takes eight";
  faults_.end("reads_slow");
}

}  // namespace
}  // namespace scenario

// `hearsay cache` from the command line, on the cache of a stopped proxy.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/scenario/disk/disk_scene.hpp"
#include "tests/support/child_process.hpp"

namespace scenario {
namespace {

class CacheCommand : public testing::Test {
 protected:
  CacheCommand() {
    scene_.origin.on("/a", cacheable("the-body-of-a"));
    scene_.origin.on("/b/1", cacheable("1"));
    scene_.origin.on("/b/2", cacheable("2").with("Vary", "Cookie"));
    for (const char* path : {"/a", "/b/1", "/b/2"}) scene_.get(path);
    scene_.settle(4);
  }

  Outcome run(const std::vector<std::string>& arguments, const json& settings) {
    write_file(home_ / "settings.json", settings.dump());
    Command command{{hearsay_program(), "cache"}};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    command.arguments.insert(command.arguments.end(), {"--config", home_ / "settings.json"});
    return run_to_end(command);
  }
  json settings() const {
    const json disk{{"path", scene_.directory().string()}, {"size", "64MiB"}};
    return {{"cache", {{"disk", disk}}}};
  }
  Outcome run(const std::vector<std::string>& arguments) { return run(arguments, settings()); }
  std::size_t listed() {
    const std::string out = run({"list", "--json"}).output;
    return static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n'));
  }
  std::string url(const std::string& path) const { return scene_.origin.url(path); }

  const TemporaryDirectory home_;
  DiskScene scene_;
};

TEST_F(CacheCommand, LooksIntoWhatAProxyHasStored) {
  scene_.end();
  const Outcome list = run({"list"});
  EXPECT_EQ(list.exit_code, 0) << list.errors;
  EXPECT_TRUE(contains(list.output, "  " + url("/a") + '\n')) << list.output;
  EXPECT_TRUE(contains(list.errors, "3 entries")) << list.errors;
  EXPECT_EQ(run({"list", "--json", "--prefix", url("/b/")}).output.find(url("/a")),
            std::string::npos);
  const Outcome show = run({"show", url("/b/2")});
  EXPECT_EQ(show.exit_code, 0) << show.errors;
  EXPECT_TRUE(contains(show.output, "  Vary: Cookie\n")) << show.output;
  EXPECT_TRUE(contains(show.output, "selects by")) << show.output;
  EXPECT_EQ(run({"show", url("/c")}).exit_code, 1);
  EXPECT_EQ(run({"verify"}).exit_code, 0);
}

TEST_F(CacheCommand, FindsWhatIsDamagedWhereTheProxyGoesOnWithoutIt) {
  scene_.kill();
  const auto path = scene_.directory() / "00000001.segment";
  std::string bytes = read_file(path);
  bytes[bytes.find("the-body-of-a")] ^= 1;
  write_file(path, bytes);
  const Outcome verify = run({"verify"});
  EXPECT_EQ(verify.exit_code, 1) << verify.errors;
  EXPECT_TRUE(contains(verify.output, "a record's body does not fit; ")) << verify.output;
  EXPECT_TRUE(contains(verify.output, url("/a") + '\n')) << verify.output;
  EXPECT_EQ(run({"list"}).exit_code, 0);
}

TEST_F(CacheCommand, DropsForGood) {
  EXPECT_TRUE(scene_.holds("/a"));
  scene_.end();
  EXPECT_EQ(run({"drop", url("/a")}).exit_code, 0);
  EXPECT_EQ(run({"drop", url("/a")}).exit_code, 1);
  EXPECT_EQ(listed(), 2U);
  scene_.begin();
  EXPECT_FALSE(scene_.holds("/a"));
  EXPECT_TRUE(scene_.holds("/b/2"));
  scene_.end();
  EXPECT_EQ(run({"drop", "--prefix", url("/b/")}).output, "dropped 2 responses\n");
  scene_.begin();
  EXPECT_FALSE(scene_.holds("/b/1"));
  EXPECT_FALSE(scene_.holds("/b/2"));
}

// The argument is the URL that a client requests. The stored name lacks what the site's rules drop.
TEST_F(CacheCommand, FollowsTheRulesOfASite) {
  json ruled = settings();
  ruled["rules"] = {{{"name", "r"}, {"host", "*"}, {"drop_query", {"utm_*"}}}};
  const auto asked = url("/a?utm_a=1");
  scene_.end();
  EXPECT_TRUE(contains(run({"show", asked}, ruled).output, "stored as")) << "stopped";
  EXPECT_EQ(run({"show", asked}).exit_code, 1);
  EXPECT_EQ(run({"drop", asked}, ruled).output, "dropped 1 response\n");
  EXPECT_EQ(listed(), 2U);
}

TEST_F(CacheCommand, HeedsWhatTheProxyPurged) {
  EXPECT_EQ(scene_.ask("PURGE", "/a", kOnPurpose).status, 200);
  scene_.kill();
  EXPECT_EQ(listed(), 2U);
}

// `hearsay cache list | less` holds this lock for as long as less is open.
TEST_F(CacheCommand, DoesNotKeepAProxyFromStarting) {
  scene_.end();
  const int lock = ::open((scene_.directory() / "lock").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_SH | LOCK_NB), 0);
  scene_.begin();
  EXPECT_EQ(scene_.health().at("state"), "resting");
  const auto reason = scene_.health().at("reason").get<std::string>();
  EXPECT_TRUE(contains(reason, "`hearsay cache` is reading")) << reason;
  EXPECT_TRUE(contains(scene_.proxy().process().errors(), "it is taken when that has ended"));
  EXPECT_EQ(listed(), 3U) << "others may read, too";
  EXPECT_EQ(scene_.get("/b/1").body, "1");
  ::close(lock);
  EXPECT_TRUE(await([&] { return scene_.health().at("state") == "working"; }));
  EXPECT_TRUE(scene_.holds("/a"));
}

// As its sister commands; the settings may be on another machine, or for root alone.
TEST_F(CacheCommand, NeedsNoSettingsOfARunningProxyWhoseSocketIsNamed) {
  const auto listed = [](const std::string& socket) {
    return run_to_end({{hearsay_program(), "cache", "list", "--socket", socket}});
  };
  const ProxyProcess proxy(json{{"control", home_ / "control.sock"}});
  Client client(proxy.port());
  client.get(url("/a"));
  const Outcome list = listed(home_ / "control.sock");
  EXPECT_EQ(list.exit_code, 0) << list.errors;
  EXPECT_TRUE(contains(list.output, url("/a"))) << list.output;
  EXPECT_TRUE(contains(list.errors, "1 entry, ")) << list.errors;
  const Outcome nobody = listed(home_ / "absent.sock");
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_TRUE(contains(nobody.errors, "no proxy answers at the control socket")) << nobody.errors;
}

TEST_F(CacheCommand, SaysWhatIsWrongInALineOrSo) {
  const Outcome wrong = run({"list"}, {{"cachd", 1}});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.errors, "cachd")) << wrong.errors;
  EXPECT_EQ(run({"drop"}).exit_code, 2);
  EXPECT_EQ(run({"drop", url("/a"), "--all"}).exit_code, 2);
}

}  // namespace
}  // namespace scenario

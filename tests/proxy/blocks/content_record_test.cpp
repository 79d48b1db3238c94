#include "proxy/blocks/content_record.hpp"

#include <gtest/gtest.h>

#include "proxy/cache/combine.hpp"
#include "proxy/policy/content.hpp"
#include "tests/proxy/thread_scene.hpp"

namespace proxy::blocks {
namespace {

using namespace std::chrono_literals;

const std::string kDigits(64, 'a');

config::Settings settings_for_content() {
  auto settings = client::quiet_settings();
  config::RuleSettings rule;
  rule.name = "content";
  rule.host = {"a.test", {}};
  rule.by_pattern = config::PatternRule{.pattern = "/*/{sha256}",
                                        .kind = config::ResponseClass::told,
                                        .name = config::StoredUnder::content};
  settings.rules.push_back(rule);
  return settings;
}

// A body is stored under its first name, and a second one is asked for.
struct RecordScene : ThreadScene {
  RecordScene() : ThreadScene(settings_for_content()) {
    entry = store_response({.url = url("one")}, "hello");
    record_content(fetching, *entry, **first);
  }
  static std::string url(const std::string& folder) {
    return "http://a.test/" + folder + "/" + kDigits;
  }
  std::unique_ptr<policy::TextRequest> asks(const std::string& folder) const {
    auto made = std::make_unique<policy::TextRequest>("", "GET " + url(folder) + " HTTP/1.1");
    made->parsed->pin(policy);
    made->parsed->arrive(policy::Arrival::forward);
    made->parsed->apply_site_rule();
    return made;
  }
  cache::Ref<const cache::Entry> find(bool may_ask = true) {
    std::function<bool(const policy::Request&)> may = [may_ask](const policy::Request&) {
      return may_ask;
    };
    return run(find_by_content(fetching, **second, std::move(may), clock.steady())).entry;
  }
  // The entry as a 304 leaves it, a second later.
  cache::Ref<const cache::Entry> freshen() {
    clock.pass(1s);
    auto fresh = store_response({.url = url("one")}, "hello");
    return fresh;
  }

  const std::unique_ptr<policy::TextRequest> first = asks("one");
  const std::unique_ptr<policy::TextRequest> second = asks("two");
  cache::Ref<const cache::Entry> entry;
};

TEST(ContentRecord, LeadsToWhatIsStoredUnderAnotherName) {
  RecordScene scene;
  const auto found = scene.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->body.size, 5U);
  EXPECT_EQ(found->quotes().etag, "\"sha256:" + kDigits + "\"");
  EXPECT_FALSE(scene.find(false)) << "the client may not ask for that name";
  EXPECT_TRUE(scene.find());
  remove_record(scene.fetching, **scene.second);
  EXPECT_FALSE(scene.find());
}

TEST(ContentRecord, LeadsNowhereOnceAnotherResponseIsStoredThere) {
  RecordScene scene;
  scene.freshen();
  EXPECT_FALSE(scene.find());
}

TEST(ContentRecord, FollowsAResponseThatIsFreshened) {
  RecordScene scene;
  const auto fresh = scene.freshen();
  renew_record(scene.fetching, *scene.entry, *fresh, **scene.first);
  EXPECT_TRUE(scene.find());
  // That one was never verified.
  const auto other = scene.freshen();
  const auto another = scene.freshen();
  renew_record(scene.fetching, *other, *another, **scene.first);
  EXPECT_FALSE(scene.find());
}

}  // namespace
}  // namespace proxy::blocks

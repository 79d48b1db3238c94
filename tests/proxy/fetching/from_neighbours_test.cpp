#include "proxy/fetching/from_neighbours.hpp"

#include <gtest/gtest.h>

#include "proxy/tiers/placement.hpp"
#include "tests/peers/samples.hpp"
#include "tests/proxy/fetching/fetch_scene.hpp"

namespace proxy::fetching {
namespace {

const std::string kEpoch = "000000000000000b";

// Made before the scene, whose settings name its port.
struct Neighbour {
  support::ScriptedOrigin neighbour;
};

// One neighbour, whose digest claims the URL; nobody knows how long it or the origin takes.
struct NeighbourScene : Neighbour, FetchScene {
  explicit NeighbourScene(config::Trust trust = config::Trust::site,
                          config::Duplicates duplicates = config::Duplicates::second)
      : FetchScene(settings_of(neighbour.port(), trust, duplicates)) {
    auto report = peers::samples::report_of({}, clock.steady());
    auto digest = peers::samples::native_of({});
    digest.filter.insert(key());
    digest.epoch = *peers::parse_epoch(kEpoch);
    report.identity.learn_epoch_of_digest(digest.epoch);
    report.claims = peers::Claims(std::move(digest));
    policy->directory->update(0, std::move(report));
  }

  static config::Settings settings_of(std::uint16_t port, config::Trust trust,
                                      config::Duplicates duplicates) {
    auto settings = settings_to_fetch();
    settings.digest.duplicates = duplicates;
    settings.peers = {peers::samples::peer("b", port)};
    settings.peers[0].trust = trust;
    return settings;
  }
  void neighbour_says(Reply reply) {
    neighbour.otherwise([reply = std::move(reply)](const support::Request&) { return reply; });
  }
  Seen fetch(const std::string& lines = "") {
    auto job = this->job(lines);
    job.allowed = {.only_origin = {}, .guests = true, .share = true};
    return run(std::move(job));
  }
};

// The fields of a neighbour's answer, with its proof.
support::Fields fields_with(support::Fields fields) {
  fields.emplace_back("Hearsay-Epoch", kEpoch);
  return fields;
}
Reply proven(int status, std::string body, support::Fields fields) {
  return Reply(status, fields_with(std::move(fields))).body(std::move(body));
}
Reply of_origin() {
  return Reply(200, {{"Cache-Control", "max-age=60"}}).body("origin's");
}

TEST(FetchFromNeighbours, TakesWhatIsOfUseAndAsksTheOriginElse) {
  const support::Fields lasting{{"Cache-Control", "max-age=60"}};
  const struct {
    const char* claim;
    Reply reply;
    bool of_use = false;
    std::string lines = {};
  } rows[] = {
      {"it has the response", proven(200, "theirs", lasting), true},
      {"it has it in chunks", Reply(200, fields_with(lasting)).chunked().send("the").send("irs"),
       true},
      {"it has not, and says so", proven(504, "", {})},
      {"it refuses", proven(403, "", {})},
      {"it errs", proven(500, "", {})},
      {"it hangs up", Reply::hang_up()},
      {"it speaks no HTTP", Reply::raw("what?\r\n\r\n")},
      {"somebody else answers at its address", Reply(200, lasting).body("theirs")},
      {"the response may not be stored", proven(200, "theirs", {{"Cache-Control", "no-store"}})},
      {"the response is private", proven(200, "theirs", {{"Cache-Control", "private"}})},
      {"the response is stale",
       proven(200, "theirs", {{"Cache-Control", "max-age=60"}, {"Age", "61"}})},
      {"a part that nobody asked for",
       proven(206, "th", {{"Cache-Control", "max-age=60"}, {"Content-Range", "bytes 0-1/6"}})},
      {"a 304 that nobody asked for", Reply(304, fields_with(lasting))},
      {"a small body is cut, which readers have not seen",
       Reply(200, fields_with(lasting)).sized(6).send("the").cut()},
      {"a variant by a field that it did not get",
       proven(200, "theirs", {{"Cache-Control", "max-age=60"}, {"Vary", "Cookie"}}), false,
       "Cookie: a=b\r\n"},
  };
  for (const auto& row : rows) {
    NeighbourScene scene;
    scene.neighbour_says(row.reply);
    scene.origin.on("/x", of_origin());
    const auto seen = scene.fetch(row.lines);
    EXPECT_EQ(seen.text(), row.of_use ? "200 theirs" : "200 origin's") << row.claim;
    EXPECT_EQ(scene.stored_text(), row.of_use ? "theirs" : "origin's") << row.claim;
    EXPECT_EQ(scene.origin.count(), row.of_use ? 0U : 1U) << row.claim;
    EXPECT_EQ(scene.neighbour.count(), 1U) << row.claim;
    EXPECT_EQ(scene.fills.under_way(scene.key(), scene.url(), scene.clock.steady()), nullptr)
        << row.claim;
  }
}

TEST(FetchFromNeighbours, AsksForWhatIsStoredThereWithoutTheClientsSecrets) {
  NeighbourScene scene;
  scene.neighbour_says(proven(200, "theirs", {{"Cache-Control", "max-age=60"}}));
  EXPECT_EQ(scene.fetch("Cookie: a=b\r\nAccept: text/html\r\n").text(), "200 theirs");
  const auto asked = scene.neighbour.requests().at(0);
  EXPECT_EQ(asked.field("Cache-Control"), "only-if-cached");
  EXPECT_EQ(asked.field("Accept"), "text/html");
  EXPECT_FALSE(asked.has("Cookie"));
}

// What a guest gives answers this request, and is its own word until the origin confirms it.
TEST(FetchFromNeighbours, MarksWhatAGuestHasGiven) {
  for (const auto trust : {config::Trust::site, config::Trust::guest}) {
    NeighbourScene scene(trust);
    scene.neighbour_says(proven(200, "theirs", {{"Cache-Control", "max-age=60"}}));
    EXPECT_EQ(scene.fetch().text(), "200 theirs");
    ASSERT_TRUE(scene.stored());
    EXPECT_EQ(scene.stored()->giver().guest, trust == config::Trust::guest);
  }
}

// Time stands, so the neighbour is near. What is left there goes to the client, and not to the
// store.
TEST(FetchFromNeighbours, LeavesThereWhatANearSiblingKeeps) {
  using config::Duplicates;
  const struct {
    const char* claim;
    Duplicates setting;
    int requests;  // for the URL so far, this one included
    bool stored;
  } rows[] = {
      {"each duplicate is stored", Duplicates::always, 1, true},
      {"no duplicate is", Duplicates::never, 9, false},
      {"the first request leaves it there", Duplicates::second, 1, false},
      {"the second one stores it", Duplicates::second, 2, true},
  };
  for (const auto& row : rows) {
    NeighbourScene scene(config::Trust::site, row.setting);
    tiers::Placement placement(scene.budget);
    scene.tiers.placement = &placement;
    for (int i = 0; i < row.requests; ++i) placement.record_asked(scene.key());
    scene.neighbour_says(proven(200, "theirs", {{"Cache-Control", "max-age=60"}}));
    const auto seen = scene.fetch();
    EXPECT_EQ(seen.text(), "200 theirs") << row.claim;
    EXPECT_EQ(scene.stored_text(), row.stored ? "theirs" : "") << row.claim;
    EXPECT_EQ(seen.kept(), row.stored ? "yes" : "duplicate") << row.claim;
    scene.tiers.placement = nullptr;
  }
}

// A body of 200,000 bytes, of which the neighbour sends half.
struct CutCase {
  const char* claim;
  std::string tag;  // of the neighbour's answer
  Reply rest;       // the origin's, to the question for the rest
  bool is_whole;
};

const std::string kHalf(100'000, 'a');

TEST(FetchFromNeighbours, TakesTheRestOfACutBodyFromTheOrigin) {
  const auto rest = [](std::string range, std::string tag) {
    return Reply(206, {{"Content-Range", std::move(range)},
                       {"ETag", std::move(tag)},
                       {"Cache-Control", "max-age=60"}})
        .body(std::string(100'000, 'b'));
  };
  const std::string of_rest = "bytes 100000-199999/200000";
  const CutCase rows[] = {
      {"of the same version", kStrongTag, rest(of_rest, kStrongTag), true},
      {"of another version", kStrongTag, rest(of_rest, "\"v2\""), false},
      {"of a shorter version", kStrongTag, rest("bytes 0-99999/100000", kStrongTag), false},
      {"the origin gives the whole instead", kStrongTag, of_origin(), false},
      {"the origin fails, too", kStrongTag, Reply::hang_up(), false},
  };
  for (const auto& row : rows) {
    NeighbourScene scene;
    scene.neighbour_says(
        Reply(200, fields_with({{"Cache-Control", "max-age=60"}, {"ETag", row.tag}}))
            .sized(200'000)
            .send(kHalf)
            .cut());
    scene.origin.on("/x", row.rest);
    const auto seen = scene.fetch();
    EXPECT_EQ(seen.body.substr(0, kHalf.size()), kHalf) << row.claim;
    EXPECT_EQ(seen.body.substr(kHalf.size()), row.is_whole ? std::string(100'000, 'b') : "")
        << row.claim;
    EXPECT_EQ(!seen.failure, row.is_whole) << row.claim;
    EXPECT_EQ(scene.stored_text().size(), 0U) << row.claim << ": an entry has one giver";
    const auto asked = scene.origin.requests();
    ASSERT_GE(asked.size(), 1U) << row.claim;
    EXPECT_EQ(asked[0].field("Range"), "bytes=100000-") << row.claim;
    EXPECT_EQ(asked[0].field("If-Range"), kStrongTag) << row.claim;
  }
}

// Nobody could complete it, so readers see it only once it is whole.
TEST(FetchFromNeighbours, HoldsABodyBackWhoseRestNobodyCouldGive) {
  for (const char* tag : {"", "W/\"v1\""}) {
    NeighbourScene scene;
    support::Fields fields{{"Cache-Control", "max-age=60"}};
    if (*tag) fields.emplace_back("ETag", tag);
    scene.neighbour_says(Reply(200, fields_with(fields)).sized(200'000).send(kHalf).cut());
    scene.origin.on("/x", of_origin());
    EXPECT_EQ(scene.fetch().text(), "200 origin's") << tag;
    EXPECT_FALSE(scene.origin.requests().at(0).has("Range")) << tag;
  }
}

}  // namespace
}  // namespace proxy::fetching

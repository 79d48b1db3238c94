// A response that no neighbour claims is fetched once for the site: the neighbours ask the key's
// owner who is fetching it, and join that fetch.
#include <gtest/gtest.h>

#include <csignal>
#include <deque>

#include "peers/site.hpp"
#include "tests/scenario/peers/site_scene.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;

// A member that a busy machine stops for half a second is taken for lost, and another one fetches.
// So those objects count of which all members had the response before.
TEST(SiteCollapse, FetchesANewObjectOnceHoweverManyNeighboursAreAskedForItAtOnce) {
  using std::chrono::steady_clock;
  Site site;
  site.origin.otherwise(
      [](const Request& request) { return cacheable("body of " + request.path).slow(200ms, 0); });
  int in_time = 0;
  for (int i = 0; i < 100 && in_time < 6; ++i) {
    // On a busy machine a poll may be late, and its proxy then belongs to no site for a while.
    ASSERT_TRUE(await([&site] { return site.is_complete(); }));
    const std::string path = "/" + std::to_string(i);
    const double given = site.given_unclaimed();
    const auto begun = steady_clock::now();
    const auto answers = site.ask_all(path);
    const bool counts = steady_clock::now() - begun < peers::kHeartbeat * 2;
    for (const auto& answer : answers) {
      EXPECT_EQ(answer.body, "body of " + path);
      EXPECT_TRUE(answer.whole);
    }
    if (!counts) continue;
    ++in_time;
    EXPECT_EQ(site.origin.count(path), 1U) << path;
    EXPECT_TRUE(await([&] { return site.given_unclaimed() == given + 2; }))
        << "by neighbours that had claimed nothing";
  }
  EXPECT_EQ(in_time, 6);
}

TEST(SiteCollapse, FetchesALargeObjectOnce) {
  const std::string body(12 << 20, 'x');
  Site site(json{{"cache", {{"memory", "64MiB"}, {"disk", {{"size", "256MiB"}}}}}});
  site.origin.on("/large", Reply(200, kStored).body(body).slow(allowed(200ms), 0));
  for (const auto& answer : site.ask_all("/large")) {
    EXPECT_TRUE(answer.whole);
    EXPECT_TRUE(answer.body == body);
  }
  EXPECT_EQ(site.origin.count("/large"), 1U);
}

TEST(SiteCollapse, JoinsALargeObjectThatHasBegunToArrive) {
  const std::string half(6 << 20, 'x');
  Site site(json{{"cache", {{"memory", "64MiB"}, {"disk", {{"size", "256MiB"}}}}}});
  Gate rest;
  const auto large = Reply(200, kStored).sized(2 * half.size()).send(half).wait(rest).send(half);
  site.origin.on("/large", large);
  const std::string url = site.origin.url("/large");
  std::deque<Client> clients;
  for (const auto& member : site.members) {
    clients.emplace_back(member.port()).send(support::request_text("GET", url));
    clients.back().read_head();
    EXPECT_EQ(clients.back().read_body(1 << 20), std::string(1 << 20, 'x'));
  }
  rest.open();
  for (auto& client : clients) {
    EXPECT_EQ(client.read_body(2 * half.size()).size(), 2 * half.size() - (1 << 20));
  }
  EXPECT_EQ(site.origin.count("/large"), 1U);
}

TEST(SiteCollapse, AnswersFromTheFetchUnderWayAsItGrows) {
  Site site;
  Gate head;
  Gate rest;
  site.origin.on("/a", Reply(200, kStored)
                           .sized(200'000)
                           .wait(head)
                           .send(std::string(100'000, 'a'))
                           .wait(rest)
                           .send(std::string(100'000, 'b')));
  const std::string url = site.origin.url("/a");
  Client first(site.members[0].port());
  first.send(support::request_text("GET", url));
  ASSERT_TRUE(site.origin.await_requests("/a", 1));
  Client second(site.members[0].port());
  second.send(support::request_text(
      "GET", url, {{"Cache-Control", "only-if-cached"}, {"Hearsay-Fetch", site.epoch_of(1)}}));
  EXPECT_EQ(second.read_interim().status, 102) << "it says that it waits";
  head.open();
  Response answer = second.read_head();
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(contains(answer.field("Cache-Status"), "collapsed")) << answer.field("Cache-Status");
  EXPECT_EQ(second.read_body(100'000), std::string(100'000, 'a')) << "the rest is not there yet";
  rest.open();
  second.read_rest(answer);
  EXPECT_TRUE(answer.whole);
  EXPECT_EQ(site.origin.count("/a"), 1U);
}

TEST(SiteCollapse, NamesTheFirstAskerToTheNextOnes) {
  const Site site;
  const auto detail_for = [&](const std::string& asker) {
    const Response answer = site.told(0, "/a", asker);
    EXPECT_EQ(answer.status, 504);
    return nearest_cache_status(answer);
  };
  const std::string named = "detail=\"fetched-by/" + site.epoch_of(1) + '"';
  EXPECT_EQ(site.told(0, "/a", site.epoch_of(2), 9).status, 504) << "a client that knows an epoch";
  EXPECT_FALSE(contains(detail_for("00000000000000aa"), "detail")) << "no member of the site";
  EXPECT_FALSE(contains(detail_for(site.epoch_of(1)), "detail")) << "it is to fetch";
  EXPECT_TRUE(contains(detail_for(site.epoch_of(2)), named)) << detail_for(site.epoch_of(2));
  EXPECT_FALSE(contains(detail_for(site.epoch_of(1)), "detail")) << "it is still to fetch";
  EXPECT_EQ(site.questions(0), 5);
}

// A site of three asks thousands of such questions a day. They are no errors of clients.
TEST(SiteCollapse, KeepsQuestionsApartFromWhatClientsGot) {
  Site site;
  const auto errors = [&] {
    return site.members[0].metric("hearsay_responses_total{class=\"5xx\"}");
  };
  const double before = errors();
  const auto ask = [&](const std::string& path) {
    EXPECT_EQ(site.told(0, path, site.epoch_of(1)).status, 504);
    const Fields as_of_a_claim{{"Cache-Control", "only-if-cached"}};
    const auto answer = Client(site.members[0].port()).get(site.origin.url(path), as_of_a_claim);
    EXPECT_EQ(answer.status, 504);
  };
  ask("/a");
  const auto line = site.members[0].logged(site.origin.url("/a"));
  EXPECT_EQ(line.result, "UDP_SITE_QUESTION");
  EXPECT_EQ(line.status, 0);
  EXPECT_EQ(line.method, "ICP_QUERY");
  EXPECT_EQ(line.hierarchy, "HIER_NONE");
  EXPECT_EQ(site.questions(0), 2);
  EXPECT_EQ(errors(), before);
}

TEST(SiteCollapse, GivesNoResponseThatMayNotCrossBetweenNeighbours) {
  Site site;
  Gate gate;
  site.origin.on("/a",
                 Reply(200, kStored).with("Set-Cookie", "a=b").sized(4).wait(gate).send("mine"));
  Client first(site.members[0].port());
  first.send(support::request_text("GET", site.origin.url("/a")));
  ASSERT_TRUE(site.origin.await_requests("/a", 1));
  Client second(site.members[0].port());
  second.send(support::request_text(
      "GET", site.origin.url("/a"),
      {{"Cache-Control", "only-if-cached"}, {"Hearsay-Fetch", site.epoch_of(1)}}));
  second.read_interim();
  gate.open();
  EXPECT_EQ(second.read().status, 504);
}

TEST(SiteCollapse, AsksNobodyAboutPathsWhoseAnswersAreMostlyNotForSharing) {
  Site site;
  site.origin.otherwise([](const Request& request) {
    const bool is_private = request.path.starts_with("/mine/");
    const Reply reply(200, {{"Cache-Control", is_private ? "no-store" : "max-age=60"}});
    return Reply(reply).body("a").slow(allowed(200ms), 0);
  });
  const auto questions = [&] { return site.questions(0) + site.questions(1) + site.questions(2); };
  for (const char* path : {"/mine/1", "/mine/2", "/mine/3"}) site.ask_all(path);
  const double learned = questions();
  EXPECT_GT(learned, 0);
  site.ask_all("/mine/4");
  EXPECT_EQ(questions(), learned);
  EXPECT_EQ(site.origin.count("/mine/4"), Site::kMembers);
  site.ask_all("/all/1");
  EXPECT_EQ(site.origin.count("/all/1"), 1U) << "another path of the same origin";
}

TEST(SiteCollapse, FetchesItselfWhatTheOthersFetchHasNotGot) {
  Site site;
  std::atomic<int> asked = 0;
  site.origin.on("/a", [&](const Request&) {
    return asked++ == 0 ? Reply::hang_up() : cacheable("at last").slow(allowed(100ms), 0);
  });
  std::size_t served = 0;
  for (const auto& answer : site.ask_all("/a")) {
    if (answer.body == "at last") ++served;
  }
  EXPECT_GE(served, 2U) << "one failure at the origin fails one client at most";
}

TEST(SiteCollapse, WaitsForAFetchNoLongerThanTheOriginMostlyTakes) {
  Site site(kSparesTheOrigin);
  site.origin.otherwise([](const Request&) { return cacheable("hello").slow(allowed(50ms), 0); });
  Gate never;
  std::atomic<int> asked = 0;
  site.origin.on("/a", [&](const Request&) {
    return asked++ == 0 ? Reply(200, kStored).sized(4).wait(never).send("late")
                        : cacheable("in time");
  });
  Client first(site.members[0].port());
  first.send(support::request_text("GET", site.origin.url("/a")));
  ASSERT_TRUE(site.origin.await_requests("/a", 1));
  for (const std::size_t other : {1, 2}) {
    const Response answer = Client(site.members[other].port()).get(site.origin.url("/a"));
    EXPECT_EQ(answer.body, "in time");
  }
  EXPECT_EQ(site.members[1].digest_peer("0").at("state"), "usable")
      << "its origin was slow, not it";
}

TEST(SiteCollapse, AsksNobodyWhereTheOriginIsNear) {
  Site site(kSparesTheOrigin);
  site.origin.otherwise([](const Request&) { return cacheable("hello"); });
  Client client(site.members[0].port());
  const auto questions = [&] { return site.questions(1) + site.questions(2); };
  // The first requests tell the origin's time, which a busy machine makes long.
  int in_turn = 0;
  for (int i = 0; i < 300 && in_turn < 10; ++i) {
    const auto before = questions();
    client.get(site.origin.url("/" + std::to_string(i)));
    in_turn = questions() == before ? in_turn + 1 : 0;
  }
  EXPECT_EQ(in_turn, 10);
}

TEST(SiteCollapse, AsksNobodyAgainAboutWhatMayNotBeShared) {
  Site site;
  const Fields unshared{{"Cache-Control", "no-store"}};
  site.origin.otherwise([&](const Request&) { return Reply(200, unshared).body("yours"); });
  Client client(site.members[0].port());
  const auto questions_for_all = [&] {
    const double before = site.questions(1) + site.questions(2);
    for (int i = 0; i < 10; ++i) client.get(site.origin.url("/" + std::to_string(i)));
    return site.questions(1) + site.questions(2) - before;
  };
  EXPECT_GT(questions_for_all(), 0) << "about what was never fetched";
  EXPECT_EQ(questions_for_all(), 0);
}

// What one member has renewed is not renewed by the others, although the origin is not far. Its
// time leaves room for neighbours that a busy machine delays by some milliseconds.
TEST(SiteCollapse, AsksAboutWhatIsStaleWhereTheOriginTakesTwiceAsLong) {
  Site site(kSparesTheOrigin);
  site.origin.otherwise([](const Request&) {
    return Reply(200, {{"Cache-Control", "max-age=1"}, {"ETag", "\"v1\""}})
        .slow(allowed(12ms), 0)
        .body("x");
  });
  Client client(site.members[0].port());
  const auto all = [&] {
    for (int i = 0; i < 20; ++i) client.get(site.origin.url("/" + std::to_string(i)));
  };
  all();
  const double before = site.questions(1) + site.questions(2);
  const auto last = [&] {
    return client.get(site.origin.url("/19"), {{"Cache-Control", "only-if-cached"}}).status;
  };
  ASSERT_TRUE(await([&] { return last() == 504; })) << "all are stale";
  all();
  EXPECT_GT(site.questions(1) + site.questions(2) - before, 6) << "of about 13";
}

TEST(SiteCollapse, IsOffIfTheSettingsSaySo) {
  for (const json& digest : {json{{"site_collapse", "off"}}, json{{"prefer", "latency"}}}) {
    Site site(json{{"digest", digest}});
    site.origin.otherwise([](const Request&) { return cacheable("hello"); });
    for (int i = 0; i < 10; ++i) {
      Client(site.members[0].port()).get(site.origin.url("/" + std::to_string(i)));
    }
    EXPECT_EQ(site.questions(1) + site.questions(2), 0) << digest.dump();
  }
}

// The first member fetches, the others have joined, and it stops in the middle of the body.
struct Stopped : Site {
  Stopped(std::size_t bytes, const json& settings) : Site(settings), body(bytes, 'x') {
    for (std::size_t i = 0; i < body.size(); i += 1000) body[i] = static_cast<char>('a' + i % 23);
    origin.on("/a", [this](const Request& request) {
      const std::string range = request.field("Range");
      if (range.empty() && asked++ > 0) return Reply(200, kStored).body(body);  // one did not join
      if (range.empty()) {
        return Reply(200, kStored)
            .sized(body.size())
            .send(body.substr(0, body.size() / 2))
            .wait(rest)
            .send(body.substr(body.size() / 2));
      }
      if (!knows_ranges) return Reply(200, kStored).wait(rest).body(body);
      const auto from = std::stoul(range.substr(6));
      return Reply(206, kStored)
          .with("Content-Range", "bytes " + std::to_string(from) + "-" +
                                     std::to_string(body.size() - 1) + "/" +
                                     std::to_string(body.size()))
          .body(body.substr(from));
    });
  }
  // Returns the clients of the second member, which have read a third of the body.
  std::deque<Client> begin() {
    const std::string get = support::request_text("GET", origin.url("/a"));
    first.emplace(members[0].port()).send(get);
    EXPECT_EQ(first->read_head().status, 200);
    std::deque<Client> clients;
    for (int i = 0; i < 2; ++i) {
      clients.emplace_back(members[1].port()).send(get);
      clients.back().read_head();
      EXPECT_TRUE(clients.back().read_body(body.size() / 3) == body.substr(0, body.size() / 3));
    }
    return clients;
  }
  void expect_rest(Client& client) const {
    EXPECT_TRUE(client.read_body(body.size()) == body.substr(body.size() / 3));
  }

  std::string body;
  Gate rest;
  bool knows_ranges = true;
  std::atomic<int> asked = 0;
  std::optional<Client> first;
};

TEST(SiteCollapse, OfABodyWhoseFetcherStopsTheOriginGivesTheRest) {
  const json disk{{"cache", {{"memory", "64MiB"}, {"disk", {{"size", "256MiB"}}}}}};
  const std::pair<std::size_t, json> cases[] = {
      {600'000, json::object()}, {600'000, disk}, {12U << 20, disk}};
  for (const auto& [bytes, settings] : cases) {
    Stopped site(bytes, settings);
    auto clients = site.begin();
    site.members[0].process().signal(SIGSTOP);
    const auto begun = std::chrono::steady_clock::now();
    for (auto& client : clients) site.expect_rest(client);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, allowed(5s)) << bytes;
    EXPECT_EQ(site.origin.count("/a"), 2U);
    // A busy machine may make the first member seem slow, so that the second one does not join.
    if (site.asked == 1) {
      EXPECT_EQ(site.origin.requests("/a").back().field("If-Range"), "\"v1\"");
    }
    site.members[0].process().signal(SIGCONT);
  }
}

// The body pauses at the origin, which has no rest to give meanwhile.
TEST(SiteCollapse, OfABodyThatPausesTheFetcherGivesTheRest) {
  const json disk{{"cache", {{"memory", "64MiB"}, {"disk", {{"size", "256MiB"}}}}}};
  const std::pair<std::size_t, json> cases[] = {{600'000, json::object()}, {12U << 20, disk}};
  for (const auto& [bytes, settings] : cases) {
    Stopped site(bytes, settings);
    auto clients = site.begin();
    site.knows_ranges = false;
    ASSERT_TRUE(site.origin.await_requests("/a", 2)) << "the origin is asked for the rest";
    site.origin.on("/a", Reply(404));
    site.rest.open();
    for (auto& client : clients) site.expect_rest(client);
  }
}

}  // namespace
}  // namespace scenario

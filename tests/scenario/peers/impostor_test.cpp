// An answer at a neighbour's address counts only if it proves that it is the neighbour's.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <list>
#include <thread>

#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/support/incoming.hpp"
#include "tests/support/temporary_directory.hpp"

namespace scenario {
namespace {

using std::chrono::seconds;

constexpr const char* kNotYours = "a page of somebody else";
constexpr const char* kEpochField = "Hearsay-Epoch";

json health(const ProxyProcess& proxy) {
  return json::parse(proxy.page("/health").body);
}

// A web server that has taken over the listener's address: every question gets its page.
class WebServer {
 public:
  explicit WebServer(Listener& listener)
      : listener_(blocking(listener)), acceptor_([this] { accept_all(); }) {}
  ~WebServer() {
    listener_.shut_down();
    acceptor_.join();
    for (auto& socket : sockets_) socket.shut_down();
    threads_.clear();
  }
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

 private:
  // The proxy that served on it has made the socket non-blocking for all its owners.
  static Listener& blocking(Listener& listener) {
    const int number = listener.descriptor();
    ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) & ~O_NONBLOCK);
    return listener;
  }
  void accept_all() {
    while (auto socket = listener_.accept()) {
      auto& kept = sockets_.emplace_back(std::move(*socket));
      threads_.emplace_back([&kept] { serve(kept); });
    }
  }
  static void serve(Socket& socket) {
    try {
      Incoming<Request> incoming(socket);
      const std::string body = kNotYours;
      while (incoming.head()) {
        socket.write(
            "HTTP/1.1 200 OK\r\nServer: nginx\r\nCache-Control: max-age=600\r\nETag: \"w\"\r\n"
            "Content-Length: " +
            std::to_string(body.size()) + "\r\n\r\n" + body);
      }
    } catch (const std::exception&) {
    }
  }

  Listener& listener_;
  std::list<Socket> sockets_;
  std::list<std::jthread> threads_;
  std::thread acceptor_;
};

enum class Where { memory, disk };

class TakenOver : public testing::TestWithParam<Where> {
 protected:
  json with_store(const TemporaryDirectory& home) const {
    if (GetParam() == Where::memory) return json::object();
    return {{"cache", {{"disk", {{"path", (home / "c").string()}, {"size", "256MiB"}}}}}};
  }
};

// Claimed URLs, and some that nobody claims: of those, the neighbour may be the owner.
TEST_P(TakenOver, AddressGivesNothing) {
  const TemporaryDirectory of_a;
  const TemporaryDirectory of_b;
  ScriptedOrigin origin;
  origin.otherwise([](const Request& request) { return cacheable("page " + request.path); });
  Listener at_a;
  Listener at_b;
  ProxyProcess a(with_peer("b", at_b.port(), Neighbours::named("a", with_store(of_a))), at_a);
  std::optional<ProxyProcess> b;
  b.emplace(with_peer("a", at_a.port(), Neighbours::named("b", with_store(of_b))), at_b);
  Client at(a.port());
  constexpr std::size_t kClaimed = 40;
  {
    Client of_b_alone(b->port());
    for (std::size_t i = 0; i < kClaimed; ++i) of_b_alone.get(origin.url("/" + std::to_string(i)));
  }
  ASSERT_TRUE(await([&] { return a.digest_peer("b").at("entries") == kClaimed; }));
  b->process().signal(SIGKILL);
  b->process().wait();
  const WebServer web(at_b);
  for (const bool again : {false, true}) {
    for (std::size_t i = 0; i < kClaimed + 20; ++i) {
      const auto path = "/" + std::to_string(i);
      const auto response = at.get(origin.url(path));
      EXPECT_EQ(response.body, "page " + path) << response.field("Cache-Status");
      EXPECT_TRUE(!again || is_hit(response));
    }
  }
  const json peer = a.digest_peer("b");
  EXPECT_EQ(peer.at("rests").value("not-a-proxy", 0), 1) << peer.dump(2);
  EXPECT_EQ(peer.at("true_hits"), 0);
  EXPECT_TRUE(contains(a.process().errors(), "is not this neighbour"));
}

INSTANTIATE_TEST_SUITE_P(Of, TakenOver, testing::Values(Where::memory, Where::disk),
                         [](const auto& tested) {
                           return tested.param == Where::memory ? "Memory" : "Disk";
                         });

struct Stranger {
  const char* name;
  Fields fields;
  const char* detail;  // what the client is told
};
class StrangersAnswer : public testing::TestWithParam<Stranger> {};

TEST_P(StrangersAnswer, IsNoAnswer) {
  PeerScene scene({"/a"});
  scene.peer.sign_as("");
  Fields fields = GetParam().fields;
  fields.emplace_back("Cache-Control", "max-age=600");
  scene.peer.on("/a", Reply(200, fields).body(kNotYours));
  const auto response = scene.get("/a");
  EXPECT_EQ(response.body, "from the origin");
  EXPECT_TRUE(contains(response.field("Cache-Status"), GetParam().detail))
      << response.field("Cache-Status");
  EXPECT_EQ(scene.books().at("state"), "resting");
  EXPECT_EQ(scene.books().at("reason"), "not-a-proxy");
  EXPECT_EQ(scene.peer.count("/a"), 1U);
  const json reasons = health(*scene.proxy).at("reasons");
  ASSERT_EQ(reasons.size(), 1U) << reasons.dump(2);
  EXPECT_EQ(reasons.at(0).at("which"), "b");
  EXPECT_TRUE(contains(reasons.at(0).at("text").get<std::string>(), "is not this neighbour"));
}

INSTANTIATE_TEST_SUITE_P(
    Named, StrangersAnswer,
    testing::Values(
        Stranger{"Nobody", {{"Server", "nginx"}}, "not-a-proxy/b"},
        Stranger{"AnotherVia", {{"Via", "1.1 proxy.test"}}, "not-a-proxy/b"},
        Stranger{"AnotherXCache", {{"X-Cache", "HIT from c"}}, "not-a-proxy/b"},
        Stranger{"AnEpochOfItsOwn", {{"Hearsay-Epoch", "0123456789abcdef"}}, "not-a-proxy/b"}),
    [](const auto& tested) { return tested.param.name; });

TEST(Impostor, LosesWhatTheNeighbourGaveAndNoOriginHasConfirmed) {
  PeerScene scene({"/a", "/b", "/c"});
  scene.peer.otherwise([](const Request&) { return cacheable("from the peer"); });
  EXPECT_EQ(scene.get("/a").body, "from the peer");
  EXPECT_TRUE(is_hit(scene.get("/a")));
  EXPECT_EQ(scene.get("/own").body, "from the origin");
  scene.peer.sign_as("");
  EXPECT_EQ(scene.get("/b").body, "from the origin");
  EXPECT_TRUE(await([&] { return scene.get("/a").body == "from the origin"; }));
  EXPECT_TRUE(is_hit(scene.get("/own")));
}

// The neighbour's copy is stale when it is asked for the whole, so the origin is asked.
TEST(Impostor, SuppliesNoRestOfABody) {
  PeerScene scene({"/a"});
  const Fields tagged{{"Cache-Control", "max-age=60"}, {"ETag", "\"v1\""}};
  const std::string body = numbered_bytes(200'000);
  scene.origin.on("/a", Reply(200, tagged).sized(body.size()).send(body.substr(0, 70'000)).cut());
  scene.peer.on("/a", [&](const Request& request) {
    if (!request.has("Range")) {
      return Reply(200, {{"Cache-Control", "max-age=60"}, {"Age", "100"}}).body("stale");
    }
    scene.peer.sign_as("");
    return Reply(206, tagged)
        .with("Content-Range", "bytes 70000-199999/200000")
        .body(std::string(130'000, 'x'));
  });
  const auto response = scene.get("/a");
  EXPECT_FALSE(response.whole);
  EXPECT_TRUE(body.starts_with(response.body));
  EXPECT_EQ(scene.peer.count("/a"), 2U);
  EXPECT_EQ(scene.books().at("reason"), "not-a-proxy");
}

TEST(Impostor, IsFoundByAProbeAndCountsAsNone) {
  PeerScene scene({}, {{"digest", {{"false_miss_sample", 1}}}});
  scene.peer.sign_as("");
  scene.peer.on("/a", cacheable(kNotYours));
  EXPECT_EQ(scene.get("/a").body, "from the origin");
  EXPECT_TRUE(await([&] { return scene.books().at("reason") == "not-a-proxy"; }));
  EXPECT_EQ(scene.books().at("probes"), 0);
}

TEST(Impostor, IsForgottenOnceTheNeighbourIsBack) {
  PeerScene scene({"/a", "/b"});
  scene.peer.sign_as("");
  scene.peer.on(kDigestPath, Reply(404));
  scene.peer.on("/a", cacheable(kNotYours));
  EXPECT_EQ(scene.get("/a").body, "from the origin");
  ASSERT_TRUE(await([&] { return scene.books().at("polls_failed") > 0; }));
  scene.peer.on("/b", cacheable("from the peer"));
  scene.peer.sign_as("b");
  scene.peer.on(kDigestPath, digest_reply(digest_claiming({scene.origin.url("/b")})));
  ASSERT_TRUE(await([&] { return scene.books().at("state") == "usable"; }, seconds(10)))
      << scene.books().dump(2);
  EXPECT_EQ(scene.get("/b").body, "from the peer");
}

TEST(Epoch, IsNamedToANeighbourThatAsksForItAndToNobodyElse) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello").with(kEpochField, "0123456789abcdef"));
  const auto url = scene.origin.url("/a");
  const Fields question{
      {"Cache-Control", "only-if-cached"}, {"Via", "1.1 b.test"}, {kEpochField, "?1"}};
  const auto epoch = scene.proxy.digest().at("epoch").get<std::string>();
  EXPECT_EQ(scene.client.get(url, question).field(kEpochField), epoch) << "a 504";
  EXPECT_FALSE(scene.client.get(url, {{kEpochField, "?1"}}).has(kEpochField)) << "a client";
  EXPECT_FALSE(scene.origin.requests("/a").at(0).has(kEpochField)) << "it is for the next hop";
  EXPECT_EQ(scene.client.get(url, question).field(kEpochField), epoch) << "a hit";
  EXPECT_FALSE(scene.client.get(url).has(kEpochField)) << "the origin's is not stored";
  const Fields of_a_squid{{"Cache-Control", "only-if-cached"}, {"Via", "1.1 squid-a.test"}};
  EXPECT_FALSE(scene.client.get(url, of_a_squid).has(kEpochField));
  EXPECT_EQ(scene.proxy.page("/digest/native").field(kEpochField), epoch);
}

// Whatever a neighbour's digest goes through, the neighbour does not look like somebody else.
TEST(Epoch, ThatIsNewDoesNotMakeAnHonestNeighbourFalse) {
  const TemporaryDirectory home;
  const json disk{{"cache", {{"disk", {{"path", (home / "c").string()}, {"size", "256MiB"}}}}}};
  ScriptedOrigin origin;
  origin.otherwise([](const Request& request) { return cacheable("page " + request.path); });
  Listener at_a;
  Listener at_b;
  const ProxyProcess a(with_peer("b", at_b.port(), {{"name", "a"}}), at_a);
  json settings = with_peer("a", at_a.port(), Neighbours::named("b", disk));
  auto b = std::make_unique<ProxyProcess>(settings, at_b);
  const auto fetch = [&](std::uint16_t port, int from, int to) {
    Client client(port);
    for (int i = from; i < to; ++i) {
      const auto path = "/" + std::to_string(i);
      EXPECT_EQ(client.get(origin.url(path)).body, "page " + path);
    }
  };
  fetch(b->port(), 0, 60);
  ASSERT_TRUE(await([&] { return a.digest_peer("b").at("entries") == 60; }));
  settings["digest"]["bits_per_entry"] = 14;
  const auto first = b->digest().at("epoch");
  b->reload(settings);
  fetch(a.port(), 0, 20);  // a may have polled b since, or not
  EXPECT_TRUE(await([&] { return b->digest().at("epoch") != first; }));
  EXPECT_GT(a.digest_peer("b").at("true_hits"), 0) << a.digest_peer("b").dump(2);
  b->process().signal(SIGKILL);
  b->process().wait();
  b = std::make_unique<ProxyProcess>(settings, at_b);
  fetch(a.port(), 20, 40);
  ASSERT_TRUE(await([&] { return a.digest_peer("b").at("state") == "usable"; }, seconds(10)));
  fetch(a.port(), 40, 60);
  EXPECT_FALSE(a.digest_peer("b").at("rests").contains("not-a-proxy"))
      << a.digest_peer("b").dump(2);
}

// A neighbour that may read our digest, and whose questions we refuse.
TEST(Refused, NeighbourIsNamedAtBothEnds) {
  ScriptedOrigin origin;
  origin.otherwise([](const Request& request) { return cacheable("page " + request.path); });
  Listener at_a;
  Listener at_b;
  ProxyProcess a(with_peer("b", at_b.port(), {{"name", "a"}}), at_a);
  json settings = with_peer("a", at_a.port(), {{"name", "b"}});
  ProxyProcess b(settings, at_b);
  Client at_b_alone(b.port());
  for (int i = 0; i < 5; ++i) at_b_alone.get(origin.url("/" + std::to_string(i)));
  ASSERT_TRUE(await([&] { return a.digest_peer("b").at("entries") == 5; }));
  settings["access"]["clients"] = {"192.0.2.1"};
  b.reload(settings);
  Client client(a.port());
  const auto response = client.get(origin.url("/0"));
  EXPECT_EQ(response.body, "page /0");
  EXPECT_TRUE(contains(response.field("Cache-Status"), "refuses-us/b"))
      << response.field("Cache-Status");
  const json books = a.digest_peer("b");
  EXPECT_EQ(books.at("reason"), "refuses-us") << books.dump(2);
  EXPECT_EQ(books.at("rests").value("lies", 0), 0);
  const auto text_of = [](const ProxyProcess& proxy, const std::string& which) {
    const json page = health(proxy);
    for (const auto& reason : page.at("reasons")) {
      if (reason.value("which", "") == which) return reason.at("text").get<std::string>();
    }
    return std::string();
  };
  EXPECT_TRUE(contains(text_of(a, "b"), "refuses us: not in its access.clients"));
  EXPECT_TRUE(contains(text_of(b, "a"), "not in our access.clients"));
  EXPECT_TRUE(await([&] { return contains(a.process().errors(), "refuses us: not in its"); }));
  EXPECT_TRUE(contains(b.process().errors(), "not in our access.clients"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));  // its first rest is over
  EXPECT_TRUE(contains(text_of(a, "b"), "refuses us")) << "until it serves us";
  settings["access"].erase("clients");
  b.reload(settings);
  EXPECT_EQ(text_of(b, "a"), "");
  int next = 1;
  EXPECT_TRUE(await(
      [&] {
        if (next < 5) client.get(origin.url("/" + std::to_string(next++)));
        return a.digest_peer("b").at("state") == "usable";
      },
      seconds(10)))
      << a.digest_peer("b").dump(2);
}

}  // namespace
}  // namespace scenario

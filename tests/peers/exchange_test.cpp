#include "peers/exchange.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "tests/peers/samples.hpp"
#include "tests/peers/scripted_peer.hpp"

namespace peers {
namespace {

using namespace std::chrono_literals;
using samples::body_of;
using samples::delta_of;
using samples::digest_of;
using samples::key;
using samples::native_of;
using samples::ScriptedPeer;

const auto now = std::chrono::steady_clock::now;

std::string head(const std::string& fields, std::size_t length) {
  return "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

std::string answer(const std::string& fields, const std::string& body) {
  return head(fields, body.size()) + body;
}

const std::string kHearsay = "Server: Hearsay/0.1.0\r\nETag: \"00000000000000ab-5\"\r\n";
const std::string kSquid =
    "Server: squid/5.7\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
    "Expires: Tue, 14 Nov 2023 23:13:20 GMT\r\nLast-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n";
const std::string kUnchanged = "HTTP/1.1 304 Not Modified\r\nServer: Hearsay/0.1.0\r\n\r\n";

std::string line_of(const std::string& request) {
  return request.substr(0, request.find('\r'));
}

std::string good() {
  return answer(kHearsay, body_of(native_of({"x"})));
}

class ExchangeTest : public testing::Test {
 protected:
  ExchangeTest() {
    settings_.period = 5ms;
    settings_.poll = 20ms;
    setenv("http_proxy", "http://127.0.0.1:1", 1);  // must be ignored
  }

  void start(std::vector<config::PeerSettings> peers, PollLimits limits = {}) {
    directory_.emplace(peers);
    exchange_.emplace(
        *directory_, settings_, "Hearsay/test", [this](WallTime) { beat(); }, limits);
  }
  void start(const ScriptedPeer& peer, PollLimits limits = {}) {
    start({samples::peer("b", peer.port())}, limits);
  }

  void beat() {
    const std::lock_guard lock(mutex_);
    ++beats_;
    changed_.notify_all();
  }
  // Tests the condition again at each tick of the exchange.
  template <class Condition>
  [[nodiscard]] bool reached(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, condition);
  }
  [[nodiscard]] bool beats_pass(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&, target = beats_ + count] { return beats_ >= target; });
  }

  PeerStatus status(std::size_t id = 0) const { return directory_->status(now())[id]; }
  bool claims(const char* name) const { return !directory_->claimants(key(name), now()).empty(); }

  config::DigestSettings settings_;
  std::optional<PeerDirectory> directory_;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int beats_ = 0;

 protected:
  std::optional<Exchange> exchange_;
};

TEST_F(ExchangeTest, FetchesAHearsaysDigestAndThenAsksWhetherItChanged) {
  ScriptedPeer peer([](ScriptedPeer& self, std::size_t number) {
    return self.send(number == 0 ? good() : kUnchanged);
  });
  start(peer);
  ASSERT_TRUE(reached([&] { return status().polls >= 3; }));
  EXPECT_TRUE(claims("x"));
  EXPECT_FALSE(claims("y"));
  EXPECT_EQ(status().kind, PeerKind::hearsay);
  EXPECT_EQ(status().state, PeerState::usable);
  EXPECT_EQ(status().generation, 5U);
  EXPECT_EQ(status().polls_failed, 0U);
  EXPECT_EQ(status().bytes_received, body_of(native_of({"x"})).size());
  const auto requests = peer.requests();
  EXPECT_EQ(line_of(requests[0]), "GET /digest/native HTTP/1.1");
  EXPECT_EQ(line_of(requests[1]), "GET /digest/native?epoch=00000000000000ab&since=5 HTTP/1.1");
  EXPECT_NE(requests[0].find("\r\nHost: 127.0.0.1:" + std::to_string(peer.port()) + "\r\n"),
            std::string::npos);
  EXPECT_NE(requests[0].find("\r\nAccept: application/vnd.hearsay.digest\r\n"), std::string::npos);
  EXPECT_NE(requests[0].find("\r\nUser-Agent: Hearsay/test\r\n"), std::string::npos);
  EXPECT_EQ(requests[0].find("If-None-Match"), std::string::npos);
  EXPECT_NE(requests[1].find("\r\nIf-None-Match: \"00000000000000ab-5\"\r\n"), std::string::npos);
}

TEST_F(ExchangeTest, ANewDigestReplacesTheOld) {
  ScriptedPeer peer([](ScriptedPeer& self, std::size_t number) {
    return self.send(number == 0 ? good() : answer(kHearsay, body_of(native_of({"y"}, 6))));
  });
  start(peer);
  ASSERT_TRUE(reached([&] { return claims("y"); }));
  EXPECT_FALSE(claims("x"));
}

TEST_F(ExchangeTest, ASquidIsAskedAtItsOwnPace) {
  ScriptedPeer peer(answer(kSquid, body_of(digest_of({"x"}))));
  start(peer);
  ASSERT_TRUE(reached([&] { return status().polls == 2; }));
  ASSERT_TRUE(beats_pass(20));
  const auto requests = peer.requests();
  ASSERT_EQ(requests.size(), 2U) << "natively, and then in its own form";
  EXPECT_EQ(line_of(requests[1]), "GET /squid-internal-periodic/store_digest HTTP/1.1");
  EXPECT_NE(requests[1].find("\r\nAccept: application/cache-digest\r\n"), std::string::npos);
  EXPECT_EQ(status().kind, PeerKind::squid);
  EXPECT_EQ(status().generation, std::nullopt);
  EXPECT_TRUE(claims("x"));
}

TEST_F(ExchangeTest, ASquidByTheSettingsIsOneWhateverItSays) {
  ScriptedPeer peer(answer("Server: secret\r\n", body_of(digest_of({"x"}))));
  config::PeerSettings settings = samples::peer("b", peer.port());
  settings.digest = config::PeerDigest::squid;
  start({settings});
  ASSERT_TRUE(reached([&] { return status().polls == 1; }));
  EXPECT_EQ(status().kind, PeerKind::squid);
}

TEST_F(ExchangeTest, ASquidWithoutADigestIsNoFailure) {
  ScriptedPeer peer("HTTP/1.1 404 Not Found\r\nServer: squid/5.7\r\nContent-Length: 2\r\n\r\nno");
  start(peer);
  ASSERT_TRUE(reached([&] { return status().polls == 2; }));
  EXPECT_EQ(status().state, PeerState::waiting);
  EXPECT_EQ(status().polls_failed, 0U);
  EXPECT_NE(status().last_error, "");
}

TEST_F(ExchangeTest, ADeltaChangesWhatIsHeld) {
  const auto first = native_of({"x"});
  const auto second = native_of({"y"}, 6);
  ScriptedPeer peer([&](ScriptedPeer& self, std::size_t number) {
    return self.send(number == 0   ? good()
                     : number == 1 ? answer(kHearsay, delta_of(first, second))
                                   : kUnchanged);
  });
  start(peer);
  ASSERT_TRUE(reached([&] { return claims("y"); }));
  EXPECT_FALSE(claims("x"));
  EXPECT_EQ(status().generation, 6U);
  EXPECT_EQ(status().resyncs, 0U);
}

TEST_F(ExchangeTest, ADeltaThatDoesNotFitIsCountedAndAllAskedForAtOnce) {
  ScriptedPeer peer([&](ScriptedPeer& self, std::size_t number) {
    if (number == 1)
      return self.send(answer(kHearsay, delta_of(native_of({}), native_of({"y"}, 6))));
    return self.send(number == 0 ? good() : answer(kHearsay, body_of(native_of({"y"}, 6))));
  });
  start(peer);
  ASSERT_TRUE(reached([&] { return claims("y"); }));
  EXPECT_EQ(status().resyncs, 1U);
  EXPECT_EQ(status().polls_failed, 0U);
  const auto requests = peer.requests();
  EXPECT_EQ(line_of(requests[2]), "GET /digest/native HTTP/1.1");
  EXPECT_EQ(requests[2].find("If-None-Match"), std::string::npos);
}

TEST_F(ExchangeTest, WhoTurnsOutToBeAHearsayIsAskedNativelyAgain) {
  ScriptedPeer peer([&](ScriptedPeer& self, std::size_t number) {
    if (number == 0) return self.send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
    if (number == 1) return self.send(answer(kHearsay, body_of(digest_of({"w"}))));
    return self.send(number == 2 ? good() : kUnchanged);
  });
  start(peer);
  ASSERT_TRUE(reached([&] { return claims("x"); }));
  const auto requests = peer.requests();
  EXPECT_EQ(line_of(requests[1]), "GET /squid-internal-periodic/store_digest HTTP/1.1");
  EXPECT_EQ(line_of(requests[2]), "GET /digest/native HTTP/1.1");
  EXPECT_EQ(requests[2].find("If-None-Match"), std::string::npos) << "that was the other form's";
}

TEST_F(ExchangeTest, WhoIsNativeByTheSettingsIsAskedInNoOtherForm) {
  ScriptedPeer peer("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
  config::PeerSettings settings = samples::peer("b", peer.port());
  settings.digest = config::PeerDigest::native;
  start({settings});
  ASSERT_TRUE(reached([&] { return status().polls_failed == 2; }));
  for (const auto& request : peer.requests()) {
    EXPECT_EQ(line_of(request), "GET /digest/native HTTP/1.1");
  }
}

TEST_F(ExchangeTest, APeerWhoseDigestIsOffIsNeverAsked) {
  ScriptedPeer peer(good());
  config::PeerSettings settings = samples::peer("b", peer.port());
  settings.digest = config::PeerDigest::none;
  start({settings});
  ASSERT_TRUE(beats_pass(10));
  EXPECT_EQ(peer.requests().size(), 0U);
}

TEST_F(ExchangeTest, NobodyThereIsAFailureThatTicksOutlive) {
  start({samples::peer("b", 1)});
  ASSERT_TRUE(reached([&] { return status().polls_failed == 1; }));
  EXPECT_EQ(status().state, PeerState::failing);
  EXPECT_NE(status().last_error, "");
  EXPECT_TRUE(beats_pass(10));
}

struct Spoiled {
  const char* name;
  ScriptedPeer::Answer answer;
};

class BadAnswer : public ExchangeTest, public testing::WithParamInterface<Spoiled> {};

TEST_P(BadAnswer, IsCountedAndTheOldDigestKept) {
  ScriptedPeer peer([](ScriptedPeer& self, std::size_t number) {
    return number == 0 ? self.send(good()) : GetParam().answer(self, number);
  });
  settings_.peer_memory = config::kibibytes(256);
  start(peer, {.connect = 2s, .total = 5s, .stall = 1s});
  ASSERT_TRUE(reached([&] { return status().polls_failed > 0; }));
  EXPECT_TRUE(claims("x"));
  EXPECT_EQ(status().state, PeerState::usable);
  EXPECT_NE(status().last_error, "");
  EXPECT_LT(status().bytes_received, 1U << 20);
}

ScriptedPeer::Answer bytes(std::string all) {
  return [all = std::move(all)](ScriptedPeer& self, std::size_t) {
    self.send(all);
    return false;
  };
}

ScriptedPeer::Answer endless(std::string first, std::string rest) {
  return [first = std::move(first), rest = std::move(rest)](ScriptedPeer& self, std::size_t) {
    bool more = self.send(first);
    while (more) more = self.send(rest);
    return false;
  };
}

std::string full() {
  auto digest = native_of({});
  const std::vector<std::uint8_t> bits(digest.filter.bytes().size(), 0xff);
  digest.filter = *digest::BloomFilter::from_bytes(digest.filter.shape(), bits);
  digest.checksum = digest::checksum_of(bits);
  return body_of(digest);
}

std::string zeros(std::size_t count) {
  return std::string(count, '\0');
}

INSTANTIATE_TEST_SUITE_P(
    Answers, BadAnswer,
    testing::Values(
        Spoiled{"TooFull", bytes(answer(kHearsay, full()))},
        Spoiled{"WrongSizes", bytes(answer(kHearsay, zeros(500)))},
        Spoiled{"Cut", bytes(head(kHearsay, 2000) + full().substr(0, 900))},
        Spoiled{"AnnouncedTooLarge", endless(head(kHearsay, 1 << 30), zeros(4096))},
        Spoiled{"EndlessBody", endless("HTTP/1.1 200 OK\r\n\r\n", zeros(4096))},
        Spoiled{"EndlessChunks", endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                                         "1000\r\n" + zeros(4096) + "\r\n")},
        Spoiled{"EndlessErrorPage", endless("HTTP/1.1 500 No\r\n\r\n", zeros(4096))},
        Spoiled{"EndlessHead",
                endless("HTTP/1.1 200 OK\r\n", "X: " + std::string(4000, 'x') + "\r\n")},
        Spoiled{"Redirect",
                bytes("HTTP/1.1 302 Found\r\nLocation: /digest\r\nContent-Length: 0\r\n\r\n")},
        Spoiled{"NoContent", bytes("HTTP/1.1 204 No Content\r\n\r\n")},
        Spoiled{"NoHttp", bytes("SSH-2.0-OpenSSH_9.2\r\n")}, Spoiled{"Closed", bytes("")},
        Spoiled{"Stalled",
                [](ScriptedPeer& self, std::size_t) {
                  self.send(head(kHearsay, 2000));
                  self.stall();
                  return false;
                }}),
    [](const auto& tested) { return tested.param.name; });

TEST_F(ExchangeTest, AllDigestsTogetherStayUnderPeerMemory) {
  const std::string body = body_of(native_of({"x"}));
  ScriptedPeer one(answer(kHearsay, body));
  ScriptedPeer other(answer(kHearsay, body));
  settings_.peer_memory = config::ByteSize{2 * 1500 - 1};
  start({samples::peer("b", one.port()), samples::peer("c", other.port())});
  ASSERT_TRUE(reached([&] { return status(0).polls_failed + status(1).polls_failed > 0; }));
  ASSERT_TRUE(reached([&] { return status(0).polls + status(1).polls > 4; }));
  const std::size_t refused = status(0).entries ? 1 : 0;
  EXPECT_EQ(status(refused).entries, std::nullopt);
  EXPECT_NE(status(refused).last_error.find("peer_memory"), std::string::npos);
  EXPECT_EQ(directory_->claimants(key("x"), now()).size(), 1U);
}

TEST_F(ExchangeTest, StopsAtOnceAmidATransfer) {
  ScriptedPeer peer([](ScriptedPeer& self, std::size_t) {
    self.stall();
    return false;
  });
  start(peer);
  ASSERT_TRUE(reached([&] { return !peer.requests().empty(); }));
  const SteadyTime before = now();
  exchange_.reset();
  EXPECT_LT(now() - before, 500ms);  // the transfer alone would take 5 s
}

}  // namespace
}  // namespace peers

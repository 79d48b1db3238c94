#include <algorithm>
#include <atomic>

#include "tests/peers/exchange_scene.hpp"

namespace peers {
namespace {

TEST_F(ExchangeTest, FetchesAHearsaysDigestAndThenAsksWhetherItChanged) {
  ScriptedPeer peer([](std::size_t number) { return number == 0 ? good() : unchanged(); });
  start(peer);
  ASSERT_TRUE(reached([&] { return status().polls.made >= 3; }));
  EXPECT_TRUE(claims("x"));
  EXPECT_FALSE(claims("y"));
  EXPECT_EQ(status().kind, PeerKind::hearsay);
  EXPECT_EQ(status().state, PeerState::usable);
  EXPECT_EQ(status().digest.generation, 5U);
  EXPECT_EQ(status().polls.failed, 0U);
  EXPECT_EQ(status().polls.bytes_received, body_of(native_of({"x"})).size());
  const auto requests = peer.requests();
  EXPECT_EQ(requests[0].start_line, "GET /digest/native HTTP/1.1");
  EXPECT_EQ(requests[1].start_line,
            "GET /digest/native?epoch=00000000000000ab&since=5&wait=1000 HTTP/1.1");
  EXPECT_EQ(requests[0].field("Host"), "127.0.0.1:" + std::to_string(peer.port()));
  EXPECT_EQ(requests[0].field("Accept"), "application/vnd.hearsay.digest");
  EXPECT_EQ(requests[0].field("User-Agent"), "Hearsay/test");
  EXPECT_FALSE(requests[0].has("If-None-Match"));
  EXPECT_EQ(requests[1].field("If-None-Match"), "\"00000000000000ab-5\"");
}

TEST_F(ExchangeTest, PollsGoOverOneConnection) {
  ScriptedPeer peer([](std::size_t number) { return number == 0 ? good() : unchanged(); });
  start(peer);
  ASSERT_TRUE(reached([&] { return status().polls.made >= 5; }));
  EXPECT_EQ(peer.connections(), 1U);
}

TEST_F(ExchangeTest, ALineThatContinuesNoFieldIsRefusedWithTheAnswer) {
  const std::string head = "HTTP/1.1 200 OK\r\nServer: Hearsay/0.1.0\r\n";
  const std::string rest = "Transfer-Encoding: chunked\r\n\r\n0\r\n";
  struct Case {
    std::string answer;
    bool is_refused;
  };
  const std::vector<Case> cases{
      {"HTTP/1.1 200 OK\r\n x: y\r\n" + rest + "\r\n", true},
      {"HTTP/1.1 200 OK\r\n\tx: y\r\n" + rest + "\r\n", true},
      {"HTTP/1.1 103 Hints\r\nVia: a\r\n\r\nHTTP/1.1 200 OK\r\n x: y\r\n" + rest + "\r\n", true},
      {head + rest + " x: y\r\n\r\n", true},
      {head + "Via: a,\r\n b\r\n\tc\r\n" + rest + "\r\n", false},
      {head + rest + "Via: a\r\n b\r\n\r\n", false},
  };
  for (const auto& [answer, is_refused] : cases) {
    ScriptedPeer peer(Reply::raw(answer));
    start(peer);
    ASSERT_TRUE(reached([&] { return status().polls.made >= 2; })) << answer;
    EXPECT_EQ(status().last_error.find("head") != std::string::npos, is_refused)
        << answer << status().last_error;
    exchange_.reset();
  }
}

TEST_F(ExchangeTest, ANewDigestReplacesTheOld) {
  ScriptedPeer peer([](std::size_t number) {
    return number == 0 ? good() : answer(kHearsay, body_of(native_of({"y"}, 6)));
  });
  start(peer);
  ASSERT_TRUE(reached([&] { return claims("y"); }));
  EXPECT_FALSE(claims("x"));
}

// The settings may be those of all members of a site.
TEST_F(ExchangeTest, LeavesOutAPeerWhoseAnswerNamesOurEpoch) {
  our_epoch_ = 0xab;
  ScriptedPeer us(good());
  ScriptedPeer other(
      answer({{"Server", "Hearsay/0.1.0"}, {std::string(kEpochField), to_text(0xcd)}},
             body_of(native_of({"y"}))));
  start({samples::peer("a", us.port()), samples::peer("b", other.port())});
  ASSERT_TRUE(reached([&] { return claims("y") && directory_->status(now()).size() == 1; }));
  EXPECT_EQ(status().name, "b");
  EXPECT_FALSE(claims("x"));
  ASSERT_EQ(directory_->claims_of(key("x"), now()).size(), 1U);
  ASSERT_TRUE(beats_pass(20));
  EXPECT_EQ(us.count(), 1U) << "it is polled seldom";
  EXPECT_TRUE(directory_->knows(*config::parse_address("127.0.0.1")));
  EXPECT_EQ(directory_->at(*config::parse_address("127.0.0.1")), directory_->peers()[1]);
}

// Who is polled by a name is not known by address before, and is refused the digest.
TEST_F(ExchangeTest, AsksAgainAtOnceWhereTheFirstAnswerCameFromAnUnknownAddress) {
  our_epoch_ = 0xab;
  ScriptedPeer us([](std::size_t number) { return number == 0 ? Reply(403, kHearsay) : good(); });
  config::PeerSettings settings = samples::peer("a", us.port());
  settings.host = "localhost";
  const auto begun = now();
  start({settings});
  ASSERT_TRUE(reached([&] { return directory_->status(now()).empty(); }));
  EXPECT_LT(now() - begun, 800ms) << "the pause after a failure is 900 ms at least";
  EXPECT_EQ(us.count(), 2U);
}

TEST_F(ExchangeTest, ASquidIsAskedAtItsOwnPace) {
  ScriptedPeer peer(answer(kSquid, body_of(digest_of({"x"}))));
  start(peer);
  ASSERT_TRUE(reached([&] { return status().polls.made == 2; }));
  ASSERT_TRUE(beats_pass(20));
  const auto requests = peer.requests();
  ASSERT_EQ(requests.size(), 2U) << "natively, and then in its own form";
  EXPECT_EQ(requests[1].start_line, "GET /squid-internal-periodic/store_digest HTTP/1.1");
  EXPECT_EQ(requests[1].field("Accept"), "application/cache-digest");
  EXPECT_EQ(status().kind, PeerKind::squid);
  EXPECT_EQ(status().digest.generation, std::nullopt);
  EXPECT_TRUE(claims("x"));
}

TEST_F(ExchangeTest, ASquidByTheSettingsIsOneWhateverItSays) {
  ScriptedPeer peer(answer({{"Server", "secret"}}, body_of(digest_of({"x"}))));
  config::PeerSettings settings = samples::peer("b", peer.port());
  settings.digest = config::PeerDigest::squid;
  start({settings});
  ASSERT_TRUE(reached([&] { return status().polls.made == 1; }));
  EXPECT_EQ(status().kind, PeerKind::squid);
}

TEST_F(ExchangeTest, ASquidWithoutADigestIsNoFailure) {
  ScriptedPeer peer(Reply(404, {{"Server", "squid/5.7"}}).body("no"));
  start(peer);
  ASSERT_TRUE(reached([&] { return status().polls.made == 2; }));
  EXPECT_EQ(status().state, PeerState::waiting);
  EXPECT_EQ(status().polls.failed, 0U);
  EXPECT_NE(status().last_error, "");
}

TEST_F(ExchangeTest, ADeltaChangesWhatIsHeld) {
  const auto first = native_of({"x"});
  const auto second = native_of({"y"}, 6);
  ScriptedPeer peer([&](std::size_t number) {
    if (number == 1) return answer(kHearsay, delta_of(first, second));
    return number == 0 ? good() : unchanged();
  });
  start(peer);
  ASSERT_TRUE(reached([&] { return claims("y"); }));
  EXPECT_FALSE(claims("x"));
  EXPECT_EQ(status().digest.generation, 6U);
  EXPECT_EQ(status().polls.resyncs, 0U);
}

TEST_F(ExchangeTest, ADeltaThatDoesNotFitIsCountedAndAllAskedForAtOnce) {
  ScriptedPeer peer([&](std::size_t number) {
    if (number == 1) return answer(kHearsay, delta_of(native_of({}), native_of({"y"}, 6)));
    return number == 0 ? good() : answer(kHearsay, body_of(native_of({"y"}, 6)));
  });
  start(peer);
  ASSERT_TRUE(reached([&] { return claims("y"); }));
  EXPECT_EQ(status().polls.resyncs, 1U);
  EXPECT_EQ(status().polls.failed, 0U);
  const auto requests = peer.requests();
  EXPECT_EQ(requests[2].start_line, "GET /digest/native HTTP/1.1");
  EXPECT_FALSE(requests[2].has("If-None-Match"));
}

TEST_F(ExchangeTest, WhoTurnsOutToBeAHearsayIsAskedNativelyAgain) {
  ScriptedPeer peer([&](std::size_t number) {
    if (number == 0) return Reply(404);
    if (number == 1) return answer(kHearsay, body_of(digest_of({"w"})));
    return number == 2 ? good() : unchanged();
  });
  start(peer);
  ASSERT_TRUE(reached([&] { return claims("x"); }));
  const auto requests = peer.requests();
  EXPECT_EQ(requests[1].start_line, "GET /squid-internal-periodic/store_digest HTTP/1.1");
  EXPECT_EQ(requests[2].start_line, "GET /digest/native HTTP/1.1");
  EXPECT_FALSE(requests[2].has("If-None-Match")) << "that was the other form's";
}

TEST_F(ExchangeTest, WhoIsNativeByTheSettingsIsAskedInNoOtherForm) {
  ScriptedPeer peer{Reply(404)};
  config::PeerSettings settings = samples::peer("b", peer.port());
  settings.digest = config::PeerDigest::native;
  start({settings});
  ASSERT_TRUE(reached([&] { return status().polls.failed == 2; }));
  for (const auto& request : peer.requests()) {
    EXPECT_EQ(request.start_line, "GET /digest/native HTTP/1.1");
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

// The pauses after so many failures would last over a minute.
TEST_F(ExchangeTest, ThePauseAfterAFailureEndsWhenThePeerPollsUs) {
  ScriptedPeer peer([](std::size_t number) { return number < 7 ? Reply::hang_up() : good(); });
  start(peer);
  EXPECT_TRUE(reached([&] {
    directory_->peers()[0]->accuracy.probation().heard(now());
    return claims("x");
  }));
}

TEST_F(ExchangeTest, NobodyThereIsAFailureThatTicksOutlive) {
  start({samples::peer("b", 1)});
  ASSERT_TRUE(reached([&] { return status().polls.failed == 1; }));
  EXPECT_EQ(status().state, PeerState::failing);
  EXPECT_NE(status().last_error, "");
  EXPECT_TRUE(beats_pass(10));
}

TEST_F(ExchangeTest, ANameThatIsNotResolvedIsNoWordOfThePeer) {
  auto nameless = samples::peer("b", 1);
  nameless.host = "nowhere.invalid";
  start({nameless, samples::peer("c", 1)}, {.connect = 50ms});
  ASSERT_TRUE(reached([&] { return status(0).unresolved > 0 && status(1).polls.failed > 0; }));
  EXPECT_EQ(status(0).last_error, "the name of its host was not resolved");
  EXPECT_EQ(status(1).unresolved, 0U);
}

struct Spoiled {
  const char* name;
  Reply reply;
};

class BadAnswer : public ExchangeTest, public testing::WithParamInterface<Spoiled> {};

TEST_P(BadAnswer, IsCountedAndTheOldDigestKept) {
  ScriptedPeer peer([](std::size_t number) { return number == 0 ? good() : GetParam().reply; });
  settings_.peer_memory = config::kibibytes(256);
  start(peer, {.connect = 2s, .total = 5s, .stall = 1s, .hold = 0ms});
  ASSERT_TRUE(reached([&] { return status().polls.failed > 0; }));
  EXPECT_TRUE(claims("x"));
  EXPECT_EQ(status().state, PeerState::trying);
  EXPECT_NE(status().last_error, "");
  EXPECT_LT(status().polls.bytes_received, 1U << 20);
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
        Spoiled{"TooFull", answer(kHearsay, full())},
        Spoiled{"WrongSizes", answer(kHearsay, zeros(500))},
        Spoiled{"Cut", Reply(200, kHearsay).sized(2000).send(full().substr(0, 900)).cut()},
        Spoiled{"AnnouncedTooLarge",
                Reply::endless("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n"
                               "Server: Hearsay/0.1.0\r\nETag: \"00000000000000ab-5\"\r\n\r\n",
                               zeros(4096))},
        Spoiled{"EndlessBody", Reply::endless("HTTP/1.1 200 OK\r\n\r\n", zeros(4096))},
        Spoiled{"EndlessChunks",
                Reply::endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                               support::chunk(zeros(4096)))},
        Spoiled{"EndlessErrorPage", Reply::endless("HTTP/1.1 500 No\r\n\r\n", zeros(4096))},
        Spoiled{"EndlessHead",
                Reply::endless("HTTP/1.1 200 OK\r\n", "X: " + std::string(4000, 'x') + "\r\n")},
        Spoiled{"EndlessInterimHeads", Reply::endless("", "HTTP/1.1 102 Processing\r\n\r\n")},
        Spoiled{"Redirect", Reply(302, {{"Location", "/digest"}})},
        Spoiled{"NoContent", Reply(204)}, Spoiled{"NoHttp", Reply::raw("SSH-2.0-OpenSSH_9.2\r\n")},
        Spoiled{"Closed", Reply::hang_up()},
        Spoiled{"Silent", Reply(200, kHearsay).wait(Gate()).body("never")},
        Spoiled{"Stalled", Reply(200, kHearsay).sized(2000).start().wait(Gate())}),
    [](const auto& tested) { return tested.param.name; });

TEST_F(ExchangeTest, AllDigestsTogetherStayUnderPeerMemory) {
  const std::string body = body_of(native_of({"x"}));
  ScriptedPeer one(answer(kHearsay, body));
  ScriptedPeer other(answer(kHearsay, body));
  settings_.peer_memory = config::ByteSize{2 * 1500 - 1};
  start({samples::peer("b", one.port()), samples::peer("c", other.port())});
  ASSERT_TRUE(reached([&] { return status(0).polls.failed + status(1).polls.failed > 0; }));
  ASSERT_TRUE(reached([&] { return status(0).polls.made + status(1).polls.made > 4; }));
  const std::size_t refused = status(0).digest.entries ? 1 : 0;
  EXPECT_EQ(status(refused).digest.entries, std::nullopt);
  EXPECT_NE(status(refused).last_error.find("peer_memory"), std::string::npos);
  EXPECT_EQ(directory_->claimants(key("x"), now()).size(), 1U);
}

// A digest that claims `name` and has this many bytes of filter.
Reply digest_of_bytes(const char* name, std::size_t bytes) {
  auto digest = native_of({name}, 5, bytes * 8 / 12);
  EXPECT_NEAR(static_cast<double>(digest.filter.bytes().size()), static_cast<double>(bytes), 2);
  return answer(kHearsay, body_of(digest));
}

TEST_F(ExchangeTest, ADigestThatTookMoreThanItsShareGivesWay) {
  std::atomic<bool> large_is_in = false;
  ScriptedPeer large(digest_of_bytes("x", 8000));
  ScriptedPeer small([&](std::size_t) {
    return large_is_in ? digest_of_bytes("y", 3000) : Reply(503, {{"Server", "Hearsay/0.1.0"}});
  });
  settings_.peer_memory = config::ByteSize{9000};
  start({samples::peer("b", large.port()), samples::peer("c", small.port())});
  ASSERT_TRUE(reached([&] { return claims("x"); })) << "nobody else needs the memory yet";
  large_is_in = true;
  ASSERT_TRUE(reached([&] { return claims("y"); }));
  EXPECT_FALSE(claims("x"));
  EXPECT_NE(status(0).last_error.find("peer_memory"), std::string::npos);
}

// A digest that claims `name`, and so much else that it is sent as bits.
Reply digest_as_bits(const char* name) {
  auto digest = native_of({name});
  for (int i = 0; i < 200; ++i) digest.filter.insert(key(std::to_string(i)));
  digest.entries = 201;
  digest.checksum = digest::checksum_of(digest.filter.bytes());
  return answer(kHearsay, body_of(digest));
}

TEST_F(ExchangeTest, AnAnswerThatStopsOnItsWayTakesNoShareButItsOwn) {
  std::atomic<bool> large_has_begun = false;
  ScriptedPeer large([&](std::size_t) {
    large_has_begun = true;
    return Reply(200, kHearsay).sized(9000).send(zeros(8800)).wait(Gate());
  });
  ScriptedPeer small([&](std::size_t number) {
    const bool late = large_has_begun && number > 0;
    return late ? digest_as_bits("y") : Reply(503, {{"Server", "Hearsay/0.1.0"}});
  });
  settings_.peer_memory = config::ByteSize{9000};
  start({samples::peer("b", large.port()), samples::peer("c", small.port())}, {.stall = 30s});
  EXPECT_TRUE(reached([&] { return claims("y"); })) << status(1).last_error;
}

TEST_F(ExchangeTest, StopsAtOnceAmidATransfer) {
  ScriptedPeer peer(Reply().wait(Gate()));
  start(peer);
  ASSERT_TRUE(reached([&] { return !peer.requests().empty(); }));
  const SteadyTime before = now();
  exchange_.reset();
  EXPECT_LT(now() - before, support::allowed(500ms));  // the transfer alone would take 5 s
}

}  // namespace
}  // namespace peers

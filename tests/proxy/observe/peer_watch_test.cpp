#include "proxy/observe/watch.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

namespace proxy::observe {
namespace {

using namespace std::chrono_literals;
using peers::PeerState;

// The lines that the watch writes.
class PeerWatchLog : public testing::Test {
 protected:
  bool look(PeerState state, std::chrono::seconds later = 0s,
            peers::Reason reason = peers::Reason::refused, std::uint32_t unresolved = 0,
            bool names_fail = false) {
    peers::PeerStatus peer;
    peer.name = "b";
    peer.state = state;
    peer.last_error = "refused";
    peer.books.reason = reason;
    peer.unresolved = unresolved;
    const PeerWatch::Time now(1h + later);
    upstream::NameHealth names;
    if (names_fail) {
      for (const char* const name : {"a.test", "b.example", "c.invalid"}) names.failed(name, now);
    }
    return watch_.look({peer}, names, now);
  }
  std::string said() {
    std::string text = out_.str();
    out_.str("");
    return text;
  }

  PeerWatch watch_;

 private:
  void SetUp() override {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out_);
    auto logger = std::make_shared<spdlog::logger>("test", std::move(sink));
    logger->set_pattern("%v");
    spdlog::set_default_logger(std::move(logger));
  }
  void TearDown() override { spdlog::set_default_logger(before_); }

  std::ostringstream out_;
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST(WhyDown, NamesLies) {
  peers::PeerStatus peer;
  peer.state = PeerState::resting;
  EXPECT_EQ(why_down(peer), "") << "its name was not resolved a moment ago";
  peer.books.reason = peers::Reason::refused;
  EXPECT_EQ(why_down(peer), "it failed requests, and rests: look at its log, and at the way to it");
  peer.books.reason = peers::Reason::lies;
  EXPECT_EQ(why_down(peer),
            "most of its recent claims were false, so it rests: look who runs it, and at its log");
  peer.books.reason = peers::Reason::contradicted;
  EXPECT_EQ(why_down(peer),
            "the origin contradicts what it gave, so it rests: look who runs it, or set its trust "
            "to guest");
  peer.books.reason = peers::Reason::not_a_proxy;
  EXPECT_EQ(
      why_down(peer),
      "what answers at its address is not this neighbour, so it rests: look at its url in peers");
}

TEST(WhyDown, NamesOneThatRefusesUsWhileItRestsAndWhileItIsTried) {
  peers::PeerStatus peer;
  peer.books.reason = peers::Reason::refuses_us;
  for (const auto state : {PeerState::resting, PeerState::trying}) {
    peer.state = state;
    peer.kind = peers::PeerKind::hearsay;
    EXPECT_TRUE(why_down(peer).starts_with("refuses us: not in its access.clients"));
    peer.kind = peers::PeerKind::squid;
    EXPECT_EQ(why_down(peer), "refuses us: its http_access does not allow our address");
  }
  peer.state = PeerState::usable;
  EXPECT_EQ(why_down(peer), "");
}

TEST_F(PeerWatchLog, SaysOfALiarThatItsPollsFailToo) {
  look(PeerState::usable);
  look(PeerState::resting, 0s, peers::Reason::contradicted);
  EXPECT_EQ(said(), "") << "said where the lie was found";
  look(PeerState::down, 1s, peers::Reason::contradicted);
  EXPECT_NE(said().find("peer b is down: its digest cannot be fetched: refused"),
            std::string::npos);
  look(PeerState::down, 2s, peers::Reason::contradicted);
  EXPECT_EQ(said(), "");
}

TEST_F(PeerWatchLog, TellsOfEachChangeOnce) {
  EXPECT_FALSE(look(PeerState::usable));
  EXPECT_TRUE(look(PeerState::down));
  EXPECT_FALSE(look(PeerState::down));
  EXPECT_TRUE(look(PeerState::usable));
  EXPECT_FALSE(look(PeerState::usable));
}

TEST_F(PeerWatchLog, SaysOnceThatAPeerIsDownAndOnceThatItIsBack) {
  look(PeerState::usable);
  look(PeerState::trying);
  EXPECT_EQ(said(), "") << "one failed poll may be an accident";
  look(PeerState::down);
  EXPECT_EQ(
      said(),
      "peer b is down: its digest cannot be fetched: refused: look whether it runs, and at the way "
      "to it; requests go without it\n");
  look(PeerState::stale);
  EXPECT_EQ(said(), "");
  look(PeerState::usable, 12s);
  EXPECT_EQ(said(), "peer b is back, after 12 s\n");
}

TEST_F(PeerWatchLog, WaitsForTheTrialOfAPeerThatRests) {
  look(PeerState::resting);
  EXPECT_EQ(said(),
            "peer b is down: it failed requests, and rests: look at its log, and at the way to it; "
            "requests go without it\n");
  look(PeerState::trying);
  look(PeerState::resting);
  EXPECT_EQ(said(), "");
  look(PeerState::trying);
  look(PeerState::usable, 3s);
  EXPECT_EQ(said(), "peer b is back, after 3 s\n");
}

TEST_F(PeerWatchLog, WaitsForNoTrialOfAPeerWhosePollsSucceedAgain) {
  look(PeerState::down);
  said();
  look(PeerState::trying, 5s);
  EXPECT_EQ(said(), "peer b is back, after 5 s\n");
}

TEST_F(PeerWatchLog, BlamesNobodyWhoseNameTheNameServersDoNotResolve) {
  for (const std::uint32_t polls : {1, 2, 9}) {
    EXPECT_FALSE(look(PeerState::down, 1s, peers::Reason::none, polls, polls > 2));
  }
  look(PeerState::usable, 9s);
  EXPECT_EQ(said(), "");
  look(PeerState::down, 10s, peers::Reason::none, 3);
  EXPECT_NE(said(), "") << "the name servers work, so it is the name";
  look(PeerState::resting, 10s, peers::Reason::lies, 9, true);
  look(PeerState::down, 11s, peers::Reason::none, 4, true);
  look(PeerState::down, 12s, peers::Reason::none, 5);
  EXPECT_EQ(said(), "");
}

TEST_F(PeerWatchLog, ForgetsAPeerThatIsNoLongerKnown) {
  look(PeerState::failing);
  said();
  watch_.look({}, upstream::NameHealth(), PeerWatch::Time(1h));
  look(PeerState::usable);
  EXPECT_EQ(said(), "");
}

}  // namespace
}  // namespace proxy::observe

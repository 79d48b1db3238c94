#include "proxy/crowd/whom_to_end.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "proxy/crowd/client_table.hpp"

namespace proxy::crowd {
namespace {

using namespace std::chrono_literals;
using Indices = std::vector<std::size_t>;
using Duration = Need::Duration;

const Unread::Time kNow{1h};

struct Crowd {
  std::array<ClientShare, 3> clients;
  std::vector<Holder> holders;

  // A response to the client that has not got on for `stalled`.
  void add(std::size_t client, std::uint64_t bytes, Duration stalled, bool by_client = true) {
    add(client, {bytes, bytes, kNow - stalled, by_client});
  }
  // The same, all of whose bytes are stored.
  void add_stored(std::size_t client, std::uint64_t bytes, Duration stalled) {
    add(client, {bytes, 0, kNow - stalled, true});
  }
  void add(std::size_t client, const Unread& unread) {
    clients[client].unread_bytes += unread.bytes;
    clients[client].transit_bytes += unread.freed;
    holders.push_back({.client = &clients[client], .unread = unread});
    for (auto& holder : holders) {
      holder.client_bytes = holder.client->unread_bytes;
      holder.client_freed = holder.client->transit_bytes;
    }
  }
  Indices cut(const Need& need) const { return whom_to_cut(holders, need, kNow); }
};

TEST(WhomToCut, TheLongestStalledOfTheClientThatHoldsMost) {
  Crowd crowd;
  crowd.add(0, 100, 50s);
  crowd.add(1, 80, 2s);
  crowd.add(1, 80, 3s);
  crowd.add(1, 80, 1s);
  EXPECT_EQ(crowd.cut({.per_client = 1000, .freed = 1, .patience = 1s}), Indices{2});
  EXPECT_EQ(crowd.cut({.per_client = 1000, .freed = 160, .patience = 1s}), (Indices{2, 1}));
}

TEST(WhomToCut, AClientThatHoldsNoMoreThanOthersIsSparedLonger) {
  Crowd crowd;
  crowd.add(0, 100, 50s);
  for (int i = 0; i < 3; ++i) crowd.add(1, 80, 1s);
  const auto cut = crowd.cut({.per_client = 1000, .freed = 241, .patience = 1s});
  ASSERT_EQ(cut.size(), 3U);
  EXPECT_EQ(cut[2], 0U) << "it holds most once the other holds 80";
}

TEST(WhomToCut, NobodyWhoHoldsLittleInPlaceOfAClientWhoseResponsesAreElsewhere) {
  Crowd crowd;
  crowd.add(0, 100, 50s);
  crowd.add(1, 80, 50s);
  crowd.clients[1].transit_bytes += 1000;
  crowd.add(2, 600, 50s);
  const auto cut = crowd.cut({.per_client = 2000, .freed = 5000, .patience = 1s});
  EXPECT_EQ(cut, (Indices{1, 2}));
}

TEST(WhomToCut, NobodyWhoHoldsLittleIfAllOfTheGreediestIsElsewhere) {
  Crowd crowd;
  crowd.add(0, 100, 50s);
  crowd.add(1, 600, 50s);
  Need need{.per_client = 2000, .freed = 5000, .most = 1000, .patience = 1s};
  EXPECT_EQ(crowd.cut(need), Indices{1});
  need.most = 1202;
  EXPECT_EQ(crowd.cut(need), Indices{});
}

TEST(WhomToCut, NobodyWhoReads) {
  Crowd crowd;
  crowd.add(0, 100, 999ms);
  EXPECT_EQ(crowd.cut({.per_client = 1000, .freed = 1, .patience = 1s}), Indices{});
  EXPECT_EQ(crowd.cut({.per_client = 1000, .freed = 1, .patience = 0s}), Indices{0});
}

TEST(WhomToCut, StalledOnesOfAClientAboveItsShareWhateverIsNeeded) {
  Crowd crowd;
  for (const auto stalled : {5s, 7s, 6s, 4s}) crowd.add(0, 100, stalled);
  crowd.add(1, 150, 60s);
  EXPECT_EQ(crowd.cut({.per_client = 200}), (Indices{1, 2}));
  EXPECT_EQ(crowd.cut({.per_client = 199}), (Indices{1, 2, 0}));
  EXPECT_EQ(crowd.cut({.per_client = 0}), (Indices{1, 2, 0, 4})) << "of the first, one reads";
}

TEST(WhomToCut, ASilentSourceOnlyAfterClientsThatDoNotRead) {
  Crowd crowd;
  crowd.add(0, 100, 50s, false);
  crowd.add(0, 100, 1s);
  crowd.add(0, 100, 4s, false);
  EXPECT_EQ(crowd.cut({.per_client = 0, .freed = 1, .patience = 0s}), Indices{1});
  EXPECT_EQ(crowd.cut({.per_client = 0, .freed = 1000, .patience = 0s}), (Indices{1, 0}))
      << "a source that was silent for 4 s may go on";
  const Need soon{.per_client = 0, .freed = 1000, .patience = 0s, .patience_with_sources = 4s};
  EXPECT_EQ(crowd.cut(soon), (Indices{1, 0, 2}));
  EXPECT_EQ(crowd.cut({.per_client = 0}), Indices{}) << "only the sources are slow";
}

TEST(WhomToCut, ASilentSourceAlsoIfTheClientHasJustReadOfAnother) {
  Crowd crowd;
  crowd.add(0, 100, 500ms);
  crowd.add(0, 100, 50s, false);
  EXPECT_EQ(crowd.cut({.per_client = 1000, .freed = 1, .patience = 1s}), Indices{1});
}

TEST(WhomToCut, NoneThatFreesNothingOfTheMemoryThatIsShort) {
  Crowd crowd;
  crowd.add_stored(0, 1000, 50s);
  crowd.add(0, 100, 2s);
  crowd.add(1, 150, 2s);
  const Need need{.per_client = 2000, .freed = 1000, .patience = 1s};
  EXPECT_EQ(crowd.cut(need), (Indices{2, 1})) << "the other client holds more of it";
  EXPECT_EQ(crowd.cut({.per_client = 1000}), Indices{0}) << "it counts in what the client holds";
}

TEST(WhomToCut, ASilentSourceAtOnceIfThatIsWanted) {
  Crowd crowd;
  crowd.add(0, 100, 2s, false);
  crowd.add(0, 100, 3s, false);
  crowd.add(0, 100, 1s);
  const Need need{.per_client = 1000, .freed = 101, .patience = 0s, .patience_with_sources = 0s};
  EXPECT_EQ(crowd.cut(need), (Indices{2, 1}));
}

TEST(WhomToCut, OnlyAsMuchAsIsNeeded) {
  Crowd crowd;
  for (int i = 0; i < 300; ++i) crowd.add(static_cast<std::size_t>(i) % 3, 10, 2s);
  EXPECT_EQ(crowd.cut({.per_client = 10'000, .freed = 95, .patience = 1s}).size(), 10U);
}

}  // namespace
}  // namespace proxy::crowd

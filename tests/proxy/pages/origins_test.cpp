#include "proxy/pages/origins.hpp"

#include <gtest/gtest.h>

namespace proxy::pages {
namespace {

using namespace std::chrono_literals;
using upstream::OriginTraffic;

const std::chrono::steady_clock::time_point kThen{10'000s};

upstream::OriginHealth::Failing failing_origin(const char* name, bool mapped = false,
                                               std::uint64_t failures = 4) {
  return {name, {}, failures, kThen - 10s, kThen - 1s, mapped};
}
OriginTraffic::Silence silent_origin(std::size_t requests, std::chrono::seconds silent,
                                     bool mapped = false) {
  return {"http://s:80", mapped, requests, kThen - 40s, kThen - silent};
}

// Each origin that is given has failed once.
std::vector<upstream::OriginHealth::Failing> once(std::initializer_list<const char*> origins) {
  std::vector<upstream::OriginHealth::Failing> all;
  for (const auto* origin : origins) all.push_back(failing_origin(origin, false, 1));
  return all;
}

struct ReasonRow {
  const char* claim;
  OriginsSeen seen;
  std::vector<std::pair<std::string, std::string>> reasons;  // what and which
  std::size_t notes;
};

TEST(OriginReasons, AreWhatClientsFeelAndNotOneDeadSite) {
  const auto a = failing_origin("http://a:80");
  const auto b = failing_origin("http://b:80");
  const auto busy = failing_origin("http://a:80", false, 12);
  const auto most = failing_origin("http://c:80", false, 30);
  const auto mapped = failing_origin("http://m:80", true);
  const ReasonRow rows[] = {
      {"all is well", {{}, {}, 1000, 0}, {}, 0},
      {"a site that fails alone is a note", {{a}, {}, 1000, 199, {a}}, {}, 1},
      {"so are two that few ask for", {{a, b}, {}, 1000, 199, {a, b}}, {}, 2},
      {"a mapped origin is a reason",
       {{mapped}, {}, 1000, 0, {mapped}},
       {{"origin", "http://m:80"}},
       0},
      {"a fifth of the requests is the line", {{a, b}, {}, 100, 20, {a, b}}, {{"line", ""}}, 2},
      {"be it that no host fails twice", {{}, {}, 100, 20, once({"b", "c"})}, {{"line", ""}}, 0},
      {"less than a hundred tell nothing", {{a, b}, {}, 99, 99, {a, b}}, {}, 2},
      {"if only one fails, it is that", {{a}, {}, 100, 20, {a}}, {{"origin", "http://a:80"}}, 1},
      {"so it is if others fail now and then",
       {{a}, {}, 100, 20, {once({"b"})[0], a, once({"c"})[0]}},
       {{"origin", "http://a:80"}},
       1},
      {"unless a fifth of the others fail, too",
       {{a}, {}, 100, 54, {busy, failing_origin("http://b:80", false, 12), most}},
       {{"line", ""}},
       1},
      {"who has failed once is not accused alone", {{}, {}, 100, 20, once({"b"})}, {}, 0},
      {"one that failed long ago is not accused", {{a}, {}, 100, 20}, {}, 1},
      {"failures of no origin are not of the line", {{}, {}, 100, 100}, {}, 0},
      {"a mapped origin that fails is the cause",
       {{a, mapped}, {}, 100, 20, {a, mapped}},
       {{"origin", "http://m:80"}},
       1},
      {"so it is if others fail now and then, too",
       {{mapped}, {}, 100, 20, {once({"b"})[0], once({"c"})[0], mapped}},
       {{"origin", "http://m:80"}},
       0},
      {"few wait", {{}, {silent_origin(9, 40s)}, 0, 0}, {}, 1},
      {"many wait", {{}, {silent_origin(12, 40s)}, 0, 0}, {{"origin", "http://s:80"}}, 0},
      {"many wait for a slow one that answers", {{}, {silent_origin(12, 2s)}, 0, 0}, {}, 1},
      {"some wait for a mapped one",
       {{}, {silent_origin(3, 4s, true)}, 0, 0},
       {{"origin", "http://s:80"}},
       0},
  };
  for (const auto& row : rows) {
    std::vector<std::pair<std::string, std::string>> told;
    for (const auto& one : origin_reasons(row.seen, kThen)) told.emplace_back(one.what, one.which);
    EXPECT_EQ(told, row.reasons) << row.claim;
    EXPECT_EQ(origin_notes(row.seen, {}, kThen).size(), row.notes) << row.claim;
  }
}

TEST(OriginReasons, SayHowManyWaitForHowLong) {
  const auto all = origin_reasons({{}, {silent_origin(12, 30s)}, 0, 0}, kThen);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].text,
            "12 requests have waited for it for up to 40 s, and it has answered nothing for 30 s: "
            "look whether it hangs, and at the way to it");
  const auto line = origin_reasons(
      {{}, {}, 120, 30, {failing_origin("http://a:80"), failing_origin("http://b:80")}}, kThen);
  ASSERT_EQ(line.size(), 1U);
  EXPECT_EQ(line[0].text,
            "30 of 120 requests failed in the last minute, and 2 origins fail: look at the line to "
            "the Internet");
}

TEST(OriginNotes, TellOfSlowOrigins) {
  OriginTraffic::Origin slow{"http://slow:80", {}};
  OriginTraffic::Origin quick{"http://quick:80", {}};
  for (int n = 0; n < 10; ++n) {
    slow.sums.first_bytes.add(6s);
    quick.sums.first_bytes.add(n == 0 ? 6s : 20ms);
  }
  const auto notes = origin_notes({}, {slow, quick}, kThen);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].origin, "http://slow:80");
  EXPECT_TRUE(notes[0].text.starts_with("half of its answers take more than 5.")) << notes[0].text;
}

}  // namespace
}  // namespace proxy::pages

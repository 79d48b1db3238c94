#include "config/section.hpp"

#include <gtest/gtest.h>

#include "config/text.hpp"

namespace config {
namespace {

using std::chrono::milliseconds;

constexpr Range<ByteSize> kAnySize{{0}, {UINT64_MAX}};
constexpr Range<milliseconds> kAnyTime{milliseconds(0), milliseconds::max()};

struct HintCase {
  std::string_view text, hint;
};

TEST(SizeHint, SpellsWhatWasLikelyMeant) {
  for (const HintCase& c :
       {HintCase{"20GB", "; write \"20GiB\""}, HintCase{"20 GiB", "; write \"20GiB\""},
        HintCase{"20gib", "; write \"20GiB\""}, HintCase{"20g", "; write \"20GiB\""},
        HintCase{"1.5GiB", "; write \"1536MiB\""}, HintCase{"7bytes", "; write \"7B\""},
        HintCase{"256", "; say the unit: \"256MiB\" or another"}, HintCase{"1.3GiB", ""},
        HintCase{"1.5", ""}, HintCase{"lots", ""}, HintCase{"", ""}, HintCase{"-5MiB", ""},
        HintCase{"5bananas", ""}, HintCase{"1.GiB", ""}, HintCase{"1.2.3GiB", ""},
        HintCase{"99999999999999999999GB", ""}}) {
    EXPECT_EQ(size_hint(c.text, kAnySize), c.hint) << c.text;
  }
}

TEST(DurationHint, SpellsWhatWasLikelyMeant) {
  for (const HintCase& c :
       {HintCase{"5 s", "; write \"5s\""}, HintCase{"5S", "; write \"5s\""},
        HintCase{"5min", "; write \"5m\""}, HintCase{"30 days", "; write \"30d\""},
        HintCase{"1.5h", "; write \"90m\""}, HintCase{"0.5s", "; write \"500ms\""},
        HintCase{"2 weeks", "; write \"2w\""}, HintCase{"1y", "; write \"365d\""},
        HintCase{"60", "; say the unit: \"60s\" or another"}, HintCase{"1m30s", ""},
        HintCase{"soon", ""}, HintCase{"", ""}, HintCase{"5 moons", ""}}) {
    EXPECT_EQ(duration_hint(c.text, kAnyTime), c.hint) << c.text;
  }
}

TEST(QuantityHint, SaysNothingThatTheRangeRefuses) {
  const Range<milliseconds> hour{milliseconds(1'000), std::chrono::hours(1)};
  EXPECT_EQ(duration_hint("1y", hour), "");
  EXPECT_EQ(duration_hint("2 hours", hour), "");
  EXPECT_EQ(duration_hint("1 hour", hour), "; write \"1h\"");
  EXPECT_EQ(duration_hint("4000", hour), "; say the unit");
  const Range<ByteSize> small{{1}, mebibytes(1)};
  EXPECT_EQ(size_hint("20GB", small), "");
  EXPECT_EQ(size_hint("20", small), "; say the unit");
  EXPECT_EQ(size_hint("20kb", small), "; write \"20KiB\"");
}

}  // namespace
}  // namespace config

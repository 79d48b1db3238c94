#include "proxy/inspect/report.hpp"

#include <gtest/gtest.h>

namespace proxy::inspect {
namespace {

TEST(Report, ComesBackFromItsJson) {
  Report report;
  report.add("unknown", Report::Value()).add("truth", true).add("number", std::uint64_t{7});
  report.add("rate", 0.5).add("text", std::string("a\x1b\xc3\xa9"));
  const auto back = Report::of_json(report.json(Report::Letters::ascii));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->facts(), report.facts());
  EXPECT_EQ(*back->find<std::uint64_t>("number"), 7U);
  EXPECT_EQ(back->find<std::uint64_t>("text"), nullptr) << "of another type";
  EXPECT_EQ(back->find<bool>("else"), nullptr);
}

TEST(Report, TakesNothingElse) {
  for (const char* text : {"", "{", "[]", "7", "{\"a\":[]}", "{\"a\":{}}", "{\"a\":-1}", "\xff",
                           "{\"a\":1}{", "{\"a\":\"\xff\"}"}) {
    EXPECT_FALSE(Report::of_json(text)) << text;
  }
  EXPECT_FALSE(Report::of_json(std::string(100'000, '[')));
}

}  // namespace
}  // namespace proxy::inspect

#include "proxy/command/steer/samples.hpp"

#include <gtest/gtest.h>

namespace proxy::command {
namespace {

TEST(Samples, AreReadByNameAndLabels) {
  const Samples samples(
      "# HELP a Blanks and more.\n# TYPE a counter\n"
      "a 7\na{x=\"1\"} 2\na{x=\"with a blank\"} 3\nab 100\nb 1.5e3\nno number\nd x\n\ne 4");
  EXPECT_EQ(samples.find("a"), 7);
  EXPECT_EQ(samples.find("a{x=\"with a blank\"}"), 3);
  EXPECT_EQ(samples.sum("a"), 12) << "ab is another metric";
  EXPECT_EQ(samples.find("b"), 1500);
  EXPECT_EQ(samples.find("e"), 4) << "the last line may end without";
  EXPECT_FALSE(samples.find("d"));
  EXPECT_FALSE(samples.find("# HELP a Blanks and"));
  EXPECT_EQ(samples.get("nothing"), 0);
}

struct Labelled {
  const char* labels;
  const char* name;
  std::optional<std::string> value;
};
class Label : public testing::TestWithParam<Labelled> {};

TEST_P(Label, IsFoundByItsWholeName) {
  EXPECT_EQ(label(GetParam().labels, GetParam().name), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    Labels, Label,
    testing::Values(Labelled{"le=\"0.1\"} 7", "le", "0.1"},
                    Labelled{"role=\"x\",le=\"+Inf\"}", "le", "+Inf"},
                    Labelled{"role=\"x\"}", "le", std::nullopt},
                    Labelled{"peer=\"a \\\"b\\\" \\\\\"}", "peer", "a \"b\" \\"},
                    Labelled{"peer=\"", "peer", ""}, Labelled{"", "peer", std::nullopt}));

}  // namespace
}  // namespace proxy::command

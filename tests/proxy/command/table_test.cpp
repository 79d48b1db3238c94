#include "proxy/command/steering.hpp"

#include <gtest/gtest.h>

namespace proxy::command {
namespace {

using enum Column::Align;

const std::vector<Column> kColumns{{"PEER", left}, {"HITS", right}, {"WHY", left}};
const std::vector<Row> kRows{{"b", "1,234", ""}, {"cache-c", "7", "it rests"}};

TEST(Table, AlignsItsColumns) {
  EXPECT_EQ(table(kColumns, kRows, 0),
            "PEER      HITS  WHY\n"
            "b        1,234\n"
            "cache-c      7  it rests\n");
  EXPECT_EQ(table(kColumns, kRows, 24), table(kColumns, kRows, 0)) << "it just fits";
}

TEST(Table, CutsNothingOffOnANarrowTerminal) {
  EXPECT_EQ(table(kColumns, kRows, 23),
            "b\n"
            "  HITS  1,234\n"
            "cache-c\n"
            "  HITS  7\n"
            "  WHY   it rests\n");
}

TEST(Table, HasItsTitlesEvenWithoutRows) {
  EXPECT_EQ(table(kColumns, {}, 0), "PEER  HITS  WHY\n");
}

}  // namespace
}  // namespace proxy::command

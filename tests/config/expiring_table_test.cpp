#include "config/expiring_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace config {
namespace {

using namespace std::chrono_literals;

using Table = ExpiringTable<std::string, int>;
const Table::Clock::time_point kNow{1h};

// 0: none.
int value_of(const Table& table, const std::string& key, std::chrono::seconds later = 0s) {
  const auto* const value = table.find(key, kNow + later);
  return value ? *value : 0;
}

TEST(ExpiringTable, KnowsAValueUntilItsTimeIsOver) {
  Table table(4);
  table.put("a", 1, kNow + 5s);
  EXPECT_EQ(value_of(table, "a", 4s), 1);
  EXPECT_EQ(value_of(table, "a", 5s), 0);
  EXPECT_EQ(value_of(table, "b"), 0);
}

TEST(ExpiringTable, PrefersTheNewerValue) {
  Table table(4);
  table.put("a", 1, kNow + 5s);
  EXPECT_EQ(value_of(table, "a"), 1);
  table.put("a", 2, kNow + 9s);
  EXPECT_EQ(value_of(table, "a", 6s), 2);
  table.put("a", 3, kNow + 1s);
  EXPECT_EQ(value_of(table, "a", 1s), 0);
}

TEST(ExpiringTable, ForgetsTheOldestBeyondItsCapacity) {
  Table table(2);
  table.put("a", 1, kNow + 5s);
  table.put("b", 2, kNow + 5s);
  table.put("a", 3, kNow + 5s);
  EXPECT_EQ(value_of(table, "b"), 2) << "which is found last";
  table.put("c", 4, kNow + 5s);
  EXPECT_EQ(value_of(table, "a"), 3);
  EXPECT_EQ(value_of(table, "b"), 0);
  EXPECT_EQ(value_of(table, "c"), 4);
}

TEST(ExpiringTable, ForgetsTheValueFirstWhoseTimeIsOverFirst) {
  Table table(2);
  table.put("a", 1, kNow + 9s);
  table.put("b", 2, kNow + 5s);
  table.put("c", 3, kNow + 7s);
  EXPECT_EQ(value_of(table, "a"), 1);
  EXPECT_EQ(value_of(table, "b"), 0);
  EXPECT_EQ(value_of(table, "c"), 3);
  table.put("a", 1, kNow + 6s);
  table.put("d", 4, kNow + 8s);
  EXPECT_EQ(value_of(table, "a"), 0) << "its time has changed";
}

TEST(ExpiringTable, MakesRoomByValuesWhoseTimeIsOver) {
  Table table(2);
  table.put("a", 1, kNow + 5s);
  EXPECT_TRUE(table.make_room(kNow));
  table.put("b", 2, kNow + 9s);
  EXPECT_FALSE(table.make_room(kNow + 4s));
  EXPECT_TRUE(table.make_room(kNow + 5s));
  table.put("c", 3, kNow + 9s);
  EXPECT_EQ(value_of(table, "b"), 2) << "which is older, and keeps its place";
  EXPECT_EQ(value_of(table, "c"), 3);
}

TEST(ExpiringTable, ListsTheValuesWhoseTimeIsNotOver) {
  Table table(4);
  table.put("a", 1, kNow + 5s);
  table.put("b", 2, kNow + 9s);
  EXPECT_EQ(table.values(kNow).size(), 2U);
  EXPECT_EQ(table.values(kNow + 5s), std::vector<int>{2});
  table.clear();
  EXPECT_TRUE(table.values(kNow).empty());
  EXPECT_EQ(value_of(table, "b"), 0);
}

}  // namespace
}  // namespace config

#include "proxy/http/fields.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace proxy::http {
namespace {

TEST(OwnedFields, OutliveTheTextOfTheOriginal) {
  std::optional<OwnedFields> owned;
  {
    std::string message = "Via: 1.1 a\r\nX-Own: 1\r\n";
    Fields fields;
    fields.append(std::string_view(message).substr(0, 3), std::string_view(message).substr(5, 5));
    fields.append(std::string_view(message).substr(12, 5), std::string_view(message).substr(19, 1));
    owned.emplace(fields);
    message.assign(message.size(), '?');
  }
  ASSERT_EQ(owned->fields().size(), 2u);
  EXPECT_EQ(owned->fields().value(field::via), "1.1 a");
  ASSERT_NE(owned->fields().find("x-own"), nullptr);
  EXPECT_EQ(owned->fields().find("x-own")->name, "X-Own");
  EXPECT_EQ(owned->fields().find("x-own")->value, "1");
}

TEST(OwnedFields, KeepManyLinesWithoutMovingTheirText) {
  Fields fields;
  const std::string value(100, 'v');
  for (int i = 0; i < 60; ++i) fields.append("Cookie", value);
  const OwnedFields owned(fields);
  for (const Field& line : owned.fields()) EXPECT_EQ(line.value, value);
  EXPECT_EQ(owned.fields().count(field::cookie), 60u);
}

TEST(OwnedFields, OfNoFieldsAreNone) {
  EXPECT_TRUE(OwnedFields(Fields{}).fields().empty());
}

}  // namespace
}  // namespace proxy::http

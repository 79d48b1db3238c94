#include "proxy/http/fields.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

using boost::beast::http::field;
using boost::beast::http::string_to_field;

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c; });
  return text;
}

TEST(FieldId, IsThatOfBeastForEachRegisteredNameInAnyCase) {
  for (unsigned id = 1; id <= static_cast<unsigned>(field::xref); ++id) {
    const std::string name(to_string(static_cast<field>(id)));
    EXPECT_EQ(field_id(name), static_cast<field>(id)) << name;
    EXPECT_EQ(field_id(lower(name)), static_cast<field>(id)) << name;
    EXPECT_EQ(field_id(upper(name)), static_cast<field>(id)) << name;
  }
}

TEST(FieldId, IsUnknownForANameThatDiffersInOneCharacter) {
  for (unsigned id = 1; id <= static_cast<unsigned>(field::xref); ++id) {
    const std::string name(to_string(static_cast<field>(id)));
    for (std::size_t at = 0; at < name.size(); ++at) {
      for (unsigned other = 0; other < 256; ++other) {
        auto changed = name;
        changed[at] = static_cast<char>(other);
        const auto wanted = is_token(changed) ? string_to_field(changed) : field::unknown;
        EXPECT_EQ(field_id(changed), wanted) << changed;
      }
    }
    EXPECT_EQ(field_id(name + "-"), string_to_field(name + "-"));
    EXPECT_EQ(field_id("x" + name), string_to_field("x" + name));
    EXPECT_EQ(field_id(name.substr(1)), string_to_field(name.substr(1)));
  }
}

TEST(FieldId, IsUnknownForNamesThatNobodyRegistered) {
  for (const char* name : {"", "x", "X-Forwarded-For", "Accept-", "Content-Lengths"}) {
    EXPECT_EQ(field_id(name), field::unknown) << name;
  }
}

}  // namespace
}  // namespace proxy::http

#include "digest/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace digest {
namespace {

TEST(KeyedHash, IsUnderASaltThatEachProcessDraws) {
  EXPECT_NE(random_salt(), random_salt());
  EXPECT_EQ(process_salt(), process_salt());
  EXPECT_NE(process_salt(), Salt{});
  const Salt bytes{1, 2, 3};
  EXPECT_EQ(keyed_hash(bytes), (SipHash<1, 3>(process_salt(), bytes).low()));
}

TEST(KeyedHash, OfTextIsThatOfItsBytes) {
  const std::string text = "name.test";
  EXPECT_EQ(TextHash{}(text), TextHash{}(std::string_view(text)));
  EXPECT_NE(TextHash{}(text), TextHash{}("name.tesu"));
  EXPECT_NE(TextHash{}(text), std::hash<std::string>{}(text)) << "which anybody can compute";
  EXPECT_EQ(TextHash{}(""), keyed_hash({}));
}

}  // namespace
}  // namespace digest

#include "proxy/pages/query.hpp"

#include <gtest/gtest.h>

namespace proxy::pages {
namespace {

struct AskedPath {
  const char* name;
  const char* path;
  std::optional<std::string> value;  // "!" for a fault
};
class OnlyParameter : public testing::TestWithParam<AskedPath> {};

TEST_P(OnlyParameter, IsDecodedOrRefused) {
  const auto read = only_parameter(GetParam().path, "url");
  if (!read) {
    EXPECT_EQ(GetParam().value, "!") << read.error().text;
  } else {
    EXPECT_EQ(*read, GetParam().value);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Queries, OnlyParameter,
    testing::Values(AskedPath{"None", "/a", std::nullopt}, AskedPath{"Empty", "/a?", std::nullopt},
                    AskedPath{"Plain", "/a?url=http://a/?b=c", "http://a/?b=c"},
                    AskedPath{"Encoded", "/a?url=http%3A%2f%2Fa/%2525%26+", "http://a/%25&+"},
                    AskedPath{"NoText", "/a?url=", ""}, AskedPath{"Other", "/a?ulr=b", "!"},
                    AskedPath{"NoValue", "/a?url", "!"}, AskedPath{"Two", "/a?url=b&c=d", "!"},
                    AskedPath{"HalfAByte", "/a?url=%4", "!"},
                    AskedPath{"NoDigits", "/a?url=%4g", "!"},
                    AskedPath{"AtTheEnd", "/a?url=b%", "!"}),
    [](const auto& tested) { return tested.param.name; });

constexpr std::string_view kKnown[] = {"url", "client"};

TEST(Parameters, AreReadByNameAndDecoded) {
  const auto read = parameters("/a?url=http://a/%26b&client=", kKnown);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->at("url"), "http://a/&b");
  EXPECT_EQ(read->at("client"), "");
  EXPECT_TRUE(parameters("/a", kKnown)->empty());
  EXPECT_TRUE(parameters("/a?", kKnown)->empty());
}

TEST(Parameters, AreRefusedIfUnknownDoubledOrHalfEncoded) {
  for (const char* query :
       {"ulr=b", "url", "=b", "url=a&url=b", "url=%4", "url=a&&client=b", "url=a&b"}) {
    EXPECT_FALSE(parameters(std::string("/a?") + query, kKnown)) << query;
  }
}

TEST(NoParameter, IsWhatAPageWithoutAnyTakes) {
  EXPECT_TRUE(only_parameter("/a", ""));
  EXPECT_FALSE(only_parameter("/a?b=c", ""));
  EXPECT_FALSE(only_parameter("/a?=c", "")) << "an empty name is a name";
}

}  // namespace
}  // namespace proxy::pages

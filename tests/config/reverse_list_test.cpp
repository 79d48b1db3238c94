#include <gtest/gtest.h>

#include "config/load.hpp"

namespace config {
namespace {

std::string reverse(const std::string& list) {
  return R"({"listen":["127.0.0.1:3128"],"reverse":[)" + list + "]}";
}

TEST(ReverseSettings, MapAHostToOneOrigin) {
  const auto settings = load(reverse(R"({"host":"*","to":"http://127.0.0.1:8000"})"));
  ASSERT_TRUE(settings.has_value());
  const Reverse expected{"*", std::nullopt, {{false, "127.0.0.1", 8000}}, "", false, ""};
  EXPECT_EQ(settings->gateway.reverse, std::vector{expected});
}

TEST(ReverseSettings, TakeSeveralOriginsAPortAndAllTheRest) {
  const auto settings = load(reverse(
      R"({"host":"*.Example.com:8080","to":["https://A.test/","http://[::1]"],"send_host":"a.test",)"
      R"("share":true,"known":"/etc/urls"})"));
  ASSERT_TRUE(settings.has_value());
  const Reverse expected{"*.example.com", 8080, {{true, "a.test", 443}, {false, "::1", 80}},
                         "a.test",        true, "/etc/urls"};
  EXPECT_EQ(settings->gateway.reverse, std::vector{expected});
}

struct MappingFault {
  std::string list, path, words;
};

TEST(ReverseSettings, AreRefusedWithTheirPlaceAndTheReason) {
  const std::string to = R"("to":"http://b")";
  for (const MappingFault& c : {
           MappingFault{"7", "reverse[0]", "found the number 7"},
           MappingFault{"{" + to + "}", "reverse[0]", "expected \"host\""},
           MappingFault{R"({"host":"*"})", "reverse[0]", "expected \"to\""},
           MappingFault{R"({"host":"a b",)" + to + "}", "reverse[0].host", "found \"a b\""},
           MappingFault{R"({"host":"w*.b",)" + to + "}", "reverse[0].host", "\"*.example.com\""},
           MappingFault{R"({"host":"*.10.0.0.1",)" + to + "}", "reverse[0].host",
                        "expected a host"},
           MappingFault{R"({"host":"a:0",)" + to + "}", "reverse[0].host", "expected a host"},
           MappingFault{R"({"host":"*","to":"b"})", "reverse[0].to", "found \"b\""},
           MappingFault{R"({"host":"*","to":"http://b/x"})", "reverse[0].to", "without path"},
           MappingFault{R"({"host":"*","to":7})", "reverse[0].to", "or a list"},
           MappingFault{R"({"host":"*","to":[]})", "reverse[0].to", "from 1 to 16"},
           MappingFault{R"({"host":"*","to":["http://b","http://B/"]})", "reverse[0].to[1]",
                        "twice"},
           MappingFault{R"({"host":"*","to":"http://127.0.0.1:3128"})", "reverse[0].to",
                        "we listen"},
           MappingFault{R"({"host":"a","send_host":"*",)" + to + "}", "reverse[0].send_host",
                        "a host"},
           MappingFault{R"({"host":"a","share":1,)" + to + "}", "reverse[0].share",
                        "true or false"},
           MappingFault{R"({"host":"*","share":true,)" + to + "}", "reverse[0].share", "any site"},
           MappingFault{R"({"host":"a","known":"",)" + to + "}", "reverse[0].known", "the path"},
           MappingFault{R"({"host":"a","too":1,)" + to + "}", "reverse[0].too", "mean \"to\"?"},
           MappingFault{R"({"host":"a",)" + to + R"(},{"host":"A",)" + to + "}", "reverse[1]",
                        "same host as reverse[0]"},
       }) {
    const auto settings = load(reverse(c.list));
    ASSERT_TRUE(settings.has_error()) << c.list;
    ASSERT_EQ(settings.error().size(), 1u) << c.list << settings.error()[1].what;
    EXPECT_TRUE(settings.error()[0].where.ends_with(", " + c.path)) << settings.error()[0].where;
    EXPECT_NE(settings.error()[0].what.find(c.words), std::string::npos)
        << settings.error()[0].what;
  }
}

TEST(ReverseSettings, MayMapOneHostTwiceByPort) {
  const auto settings = load(reverse(
      R"({"host":"a","to":"http://b"},{"host":"a:81","to":"http://c"},{"host":"a.:82","to":"http://d"})"));
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->gateway.reverse[2].host, "a");
}

}  // namespace
}  // namespace config

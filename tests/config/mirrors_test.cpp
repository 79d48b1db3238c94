#include <gtest/gtest.h>

#include "config/load.hpp"

namespace config {
namespace {

std::string mirrors(const std::string& text) {
  return R"({"mirrors":{)" + text + "}}";
}

TEST(MirrorSettings, AreOffByDefault) {
  EXPECT_EQ(Settings{}.gateway.mirrors.hosts, std::vector<HostSpec>{});
  EXPECT_EQ(Settings{}.gateway.mirrors.share, MirrorShare::anonymous);
}

TEST(MirrorSettings, TakeHostsAndTheirCertificates) {
  const auto settings =
      load(mirrors(R"("hosts":["Files.Example.com","*.example.org:8443"],"share":"none",)"
                   R"("ca":{"Files.example.com":"/etc/a.pem","*.example.org":"b.pem"})"));
  ASSERT_TRUE(settings.has_value());
  const MirrorSettings expected{{{"files.example.com", std::nullopt}, {"*.example.org", 8443}},
                                {{"files.example.com", "/etc/a.pem"}, {"*.example.org", "b.pem"}},
                                MirrorShare::none};
  EXPECT_EQ(settings->gateway.mirrors, expected);
}

TEST(MirrorSettings, AreRefusedWithTheirPlaceAndTheReason) {
  const struct {
    std::string text, path, words;
  } cases[] = {
      {R"("hosts":7)", "mirrors.hosts", "a list"},
      {R"("hosts":["*"])", "mirrors.hosts[0]", "found \"*\""},
      {R"("hosts":["*.com"])", "mirrors.hosts[0]", "found \"*.com\""},
      {R"("hosts":["a","a b"])", "mirrors.hosts[1]", "expected a host"},
      {R"("hosts":["https://a"])", "mirrors.hosts[0]", "expected a host"},
      {R"("ca":"/etc/a.pem")", "mirrors.ca", "each with the path of a file"},
      {R"("ca":{"*":"a.pem"})", "mirrors.ca.*", "is no host"},
      {R"("ca":{"a:443":"a.pem"})", "mirrors.ca.a:443", "is no host"},
      {R"("ca":{"a":7})", "mirrors.ca.a", "the path of a file"},
      {R"("ca":{"a":""})", "mirrors.ca.a", "the path of a file"},
      {R"("share":"all")", "mirrors.share", "\"anonymous\""},
      {R"("host":["a"])", "mirrors.host", "mean \"hosts\"?"},
  };
  for (const auto& c : cases) {
    const auto settings = load(mirrors(c.text));
    ASSERT_TRUE(settings.has_error()) << c.text;
    const auto [where, what] = settings.error().at(0);
    EXPECT_TRUE(where.ends_with(", " + c.path)) << where;
    EXPECT_NE(what.find(c.words), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace config

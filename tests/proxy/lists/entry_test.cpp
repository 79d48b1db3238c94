#include "proxy/lists/read.hpp"

#include "tests/proxy/lists/lists.hpp"

namespace proxy::lists {
namespace {

struct EntryCase {
  const char* name;
  const char* line;
  Lines named;
  Lines others;
};
void PrintTo(const EntryCase& tested, std::ostream* out) {
  *out << tested.line;
}
class Entry : public testing::TestWithParam<EntryCase> {};

TEST_P(Entry, NamesWhatItSaysAndNoMore) {
  const List list = list_of({GetParam().line});
  for (const auto& url : GetParam().named) EXPECT_TRUE(list.names(target_of(url))) << url;
  for (const auto& url : GetParam().others) EXPECT_FALSE(list.names(target_of(url))) << url;
}

INSTANTIATE_TEST_SUITE_P(
    Hosts, Entry,
    testing::Values(
        EntryCase{
            "AndAllBelow",
            "ads.example.com",
            {"http://ads.example.com/", "https://ads.example.com/x?y", "http://a.ads.example.com/",
             "http://a.b.ads.example.com:8080/", "ads.example.com:443", "x.ads.example.com:80"},
            {"http://example.com/", "http://bads.example.com/", "http://ads.example.com.test/",
             "http://ads.example/", "example.com:443", "http://a.test/ads.example.com"}},
        EntryCase{"InAnyCase", "ADS.Example.Com", {"http://ads.eXample.com/"}, {}},
        EntryCase{"WithLastDot", "ads.example.com.", {"http://ads.example.com./"}, {}},
        EntryCase{"OfARequestWithUserinfo",
                  "a.test",
                  {"http://user:pw@a.test/"},
                  {"http://a.test@b.test/", "http://a.test:80@b.test/"}},
        EntryCase{
            "WithFirstDot", ".a.test", {"http://a.test/", "http://b.a.test/"}, {"http://ba.test/"}},
        EntryCase{"OfOneLabel", "test", {"http://a.b.test/", "http://test/"}, {"http://atest/"}},
        EntryCase{
            "OfAnInternationalName", "xn--bcher-kva.test", {"http://XN--BCHER-KVA.test/"}, {}},
        EntryCase{"WithComment", " a.test\t# b.test", {"http://a.test/"}, {"http://b.test/"}},
        EntryCase{"WithCr", "a.test\r", {"http://a.test/"}, {}},
        EntryCase{"OfAHostsFile",
                  "0.0.0.0 a.test b.test # c.test",
                  {"http://a.test/", "http://b.test/", "http://x.b.test/"},
                  {"http://c.test/", "http://0.0.0.0/"}},
        EntryCase{"OfAnotherHostsFile", "::1\ta.test", {"http://a.test/"}, {"http://[::1]/"}},
        EntryCase{
            "WhichAreFurniture",
            "127.0.0.1 localhost local 0.0.0.0",
            {},
            {"http://localhost/", "http://printer.local/", "http://127.0.0.1/", "http://0.0.0.0/"}},
        EntryCase{"WhichAreFurnitureWithAZone", "fe80::1%lo0 localhost", {}, {"http://localhost/"}},
        EntryCase{"ThatAreNone", "# a.test", {}, {"http://a.test/"}}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Addresses, Entry,
    testing::Values(
        EntryCase{"One",
                  "192.0.2.7",
                  {"http://192.0.2.7/", "http://192.0.2.7:81/x", "http://[::ffff:192.0.2.7]/",
                   "http://0xc0000207/", "192.0.2.7:443", "http://[64:ff9b::192.0.2.7]/"},
                  {"http://192.0.2.70/", "http://192.0.2.6/", "http://a.192.0.2.7.test/",
                   "http://[::c000:207]/"}},
        EntryCase{"Network",
                  "192.0.2.0/25",
                  {"http://192.0.2.0/", "http://192.0.2.127/"},
                  {"http://192.0.2.128/", "http://192.0.1.255/"}},
        EntryCase{"Ipv6",
                  "2001:DB8::7",
                  {"http://[2001:db8:0::7]/", "[2001:db8::7]:443"},
                  {"http://[2001:db8::8]/"}},
        EntryCase{"Ipv6InBrackets", "[2001:db8::7]", {"http://[2001:db8::7]/"}, {}},
        EntryCase{"Ipv6Network",
                  "2001:db8::/32",
                  {"http://[2001:db8:ffff::1]/"},
                  {"http://[2001:db9::]/", "http://32.1.13.184/"}},
        EntryCase{"Ipv6NetworkInBrackets", "[2001:db8::]/32", {"http://[2001:db8::1]/"}, {}},
        EntryCase{"AllOfIpv6", "::/0", {"http://[2001:db8::1]/"}, {"http://192.0.2.1/"}}),
    [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Prefixes, Entry,
    testing::Values(
        EntryCase{
            "Folder",
            "http://example.com/ads/",
            {"http://example.com/ads/", "http://example.com/ads/x?y", "http://EXAMPLE.com:80/ads/x",
             "http://u@example.com./ads/x"},
            {"http://example.com/ads", "http://example.com/Ads/", "https://example.com/ads/",
             "http://example.com:81/ads/", "http://a.example.com/ads/", "http://example.com/%61ds/",
             "http://example.com/x/../ads/", "example.com:80", "example.com:443"}},
        EntryCase{"OfAName",
                  "http://h.test/ads",
                  {"http://h.test/adsense", "http://h.test/ads?x"},
                  {"http://h.test/ad", "http://h.test/x/ads"}},
        EntryCase{"WithQuery",
                  "http://h.test?a=1",
                  {"http://h.test/?a=1&b", "http://h.test?a=12"},
                  {"http://h.test/"}},
        EntryCase{"Everything",
                  "HTTP://H.test:80",
                  {"http://h.test/", "http://h.test/a"},
                  {"https://h.test/", "http://h.test.evil.test/", "http://h.testa/", "h.test:443"}},
        EntryCase{"EverythingInATunnel",
                  "https://h.test",
                  {"https://h.test/", "h.test:443"},
                  {"h.test:8443", "http://h.test/"}},
        EntryCase{"WithoutScheme",
                  "h.test/ads/",
                  {"http://h.test/ads/", "https://h.test/ads/x"},
                  {"http://h.test/", "h.test:443"}},
        EntryCase{"OfAPort",
                  "h.test:8080",
                  {"http://h.test:8080/", "https://h.test:8080/x", "h.test:8080"},
                  {"http://h.test/", "h.test:443"}},
        EntryCase{"OfAPortThatOneSchemeImplies",
                  "h.test:443/",
                  {"https://h.test/", "http://h.test:443/", "h.test:443"},
                  {"http://h.test/"}},
        EntryCase{"OfAnAddress",
                  "192.0.2.7/ads",
                  {"http://192.0.2.7/ads", "http://0xc0000207/ads/"},
                  {"http://192.0.2.7/"}},
        EntryCase{"OfAnIpv6Address",
                  "[2001:db8::7]:81/",
                  {"http://[2001:DB8::7]:81/x"},
                  {"http://[2001:db8::7]/"}},
        EntryCase{"OfAName24", "h.test/24", {"http://h.test/24"}, {"http://h.test/"}}),
    [](const auto& tested) { return tested.param.name; });

TEST(ReadLine, PassesOverWhatIsNoEntry) {
  ListBuilder builder;
  for (const char* line : {"||ads.test^",
                           "*.a.test",
                           "a..test",
                           "a b",
                           "a.test b.test",
                           "256.1.1.1",
                           "127.1",
                           "1234",
                           "0x7f.1",
                           "192.0.2.1/24",
                           "192.0.2.0/33",
                           "2001:db8::/129",
                           "ftp://a.test/",
                           "://a.test",
                           "//a.test/",
                           "/ads/",
                           "http://",
                           "http:///x",
                           "http://a.test/#x",
                           "http://a b/",
                           "b\xc3\xbc.test",
                           "192.0.2.9 a.test",
                           "0.0.0.0 a..b",
                           "fe80::1%lo0",
                           "[a.test]",
                           "[::1",
                           "[]",
                           ".",
                           "..",
                           "a,b",
                           "user@a.test",
                           "a\x01.test"}) {
    EXPECT_EQ(read_line(line, builder), Line::unknown) << line;
  }
  EXPECT_EQ(read_line(std::string_view("a\0b", 3), builder), Line::unknown);
  EXPECT_EQ(read_line(std::string(254, 'a'), builder), Line::unknown);
  EXPECT_EQ(read_line("h/" + std::string(http::kMaxUrl, 'a'), builder), Line::unknown);
  EXPECT_EQ(std::move(builder).finish().entries(), 0U);
}

TEST(ReadLine, TakesEmptyLinesForNothing) {
  EXPECT_EQ(list_of({"", " \t", "\r", "#", "  # a.test", "127.0.0.1 localhost"}).entries(), 0U);
}

}  // namespace
}  // namespace proxy::lists

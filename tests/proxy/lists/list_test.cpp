#include "proxy/lists/list.hpp"

#include <algorithm>
#include <random>

#include "tests/proxy/lists/lists.hpp"

namespace proxy::lists {
namespace {

// Uses few letters, so that hosts below hosts, prefixes of prefixes and near misses occur by
// chance.
class Chance {
 public:
  explicit Chance(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::string word(std::string_view letters, std::size_t most) {
    std::string text;
    for (std::size_t n = 1 + below(most); n > 0; --n) text += letters[below(letters.size())];
    return text;
  }
  std::string host() {
    std::string host = word("ab", 2);
    for (std::size_t n = below(4); n > 0; --n) host += '.' + word("ab", 2);
    return host + ".test";
  }
  std::string url() {
    const std::string host_port = host() + (below(4) == 0 ? ":81" : "");
    return (below(3) == 0 ? "https://" : "http://") + host_port + '/' + word("ab/", 6);
  }
  std::string address() {
    if (below(3) == 0) return "[2001:db8::" + std::to_string(below(9)) + "]";
    return "192.0.2." + std::to_string(below(256));
  }

 private:
  std::minstd_rand random_;
};

bool is_below(std::string_view host, std::string_view domain) {
  return host == domain || (host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.');
}

// Answers the same questions by comparing every entry.
struct Naive {
  Lines hosts, urls;
  config::Networks networks;

  bool names(const http::Target& target) const {
    const auto address = config::parse_address(target.host());
    return (address && config::contains(networks, *address)) ||
           std::any_of(hosts.begin(), hosts.end(),
                       [&](const auto& host) {
                         return target.host().size() >= host.size() &&
                                is_below(target.host(), host);
                       }) ||
           std::any_of(urls.begin(), urls.end(),
                       [&](const auto& url) { return target.url().starts_with(url); });
  }
};

// With a rate of 1 - 1e-9 the filter has one line for all keys, and says "perhaps" nearly always.
TEST(List, SaysWhatANaiveSearchSaysHoweverOftenTheFilterIsWrong) {
  for (const double rate : {ListBuilder::kRate, 0.5, 1 - 1e-9}) {
    std::size_t named = 0;
    std::size_t asked = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
      Chance chance(seed);
      Naive naive;
      ListBuilder builder;
      for (std::size_t n = chance.below(60); n > 0; --n) {
        naive.hosts.push_back(chance.host());
        builder.add_host(naive.hosts.back());
      }
      for (std::size_t n = chance.below(60); n > 0; --n) {
        naive.urls.push_back(chance.url());
        builder.add_prefix(naive.urls.back());
      }
      for (const char* range :
           {"192.0.2.16/28", "192.0.2.20", "192.0.2.128/26", "2001:db8::4/126"}) {
        if (chance.below(2) == 0) continue;
        naive.networks.push_back(config::parse_networks(range)->front());
        builder.add(naive.networks.back());
      }
      const List list = std::move(builder).finish(rate);
      for (int i = 0; i < 300; ++i) {
        const auto url = i % 4 == 0 ? "http://" + chance.address() + "/a" : chance.url();
        const auto target = target_of(url);
        ASSERT_EQ(list.names(target), naive.names(target)) << url << ", seed " << seed;
        named += naive.names(target) ? 1U : 0U;
        ++asked;
      }
    }
    EXPECT_GT(named, asked / 10);
    EXPECT_LT(named, asked * 9 / 10);
  }
}

TEST(List, CountsEachEntryOnce) {
  const List list = list_of({"a.test", "A.test.", "b.a.test", "http://c.test/a", "http://c.test/ab",
                             "10.0.0.0/8", "10.1.0.0/16", "10.0.0.0/8", "2001:db8::1"});
  EXPECT_EQ(list.entries(), 2U + 1U + 2U);
}

TEST(List, OfNothingNamesNothing) {
  for (const List& list : {List(), list_of({}), list_of({"10.0.0.0/8"})}) {
    EXPECT_FALSE(list.names(target_of("http://a.test/")));
    EXPECT_FALSE(list.names(*config::parse_address("192.0.2.1")));
  }
}

TEST(List, NeedsNoHostToBeAsked) {
  const auto target = http::parse_target("GET", "/a");
  EXPECT_FALSE(list_of({"a.test", "http://a.test/"}).names(*target));
}

TEST(SortedTexts, HoldExactlyWhatWasPutIn) {
  SortedTexts set;
  for (int i = 0; i < 10'000; ++i) set.insert("text-" + std::to_string(i));
  for (int i = 0; i < 10'000; i += 7) set.insert("text-" + std::to_string(i));
  set.finish(SortedTexts::Drop::equals);
  EXPECT_EQ(set.size(), 10'000U);
  for (int i = 0; i < 20'000; ++i) {
    EXPECT_EQ(set.contains("text-" + std::to_string(i)), i < 10'000) << i;
  }
  for (const char* near : {"", "text-", "text-1\ntext-2", "ext-1"})
    EXPECT_FALSE(set.contains(near));
  EXPECT_LE(set.bytes(), 10'000U * (9 + 1 + 4) + 64);
}

TEST(SortedTexts, DropWhatAnotherBegins) {
  SortedTexts set;
  for (const char* text : {"b", "ab", "abc", "a", "b", "bb/", "c\xff", "c"}) set.insert(text);
  set.finish(SortedTexts::Drop::continuations);
  EXPECT_EQ(set.size(), 3U);
  for (const char* text : {"a", "abc", "az", "b", "b/", "c", "cc"}) EXPECT_TRUE(set.begins(text));
  for (const char* text : {"", "d", "A", "\xff"}) EXPECT_FALSE(set.begins(text)) << text;
}

}  // namespace
}  // namespace proxy::lists

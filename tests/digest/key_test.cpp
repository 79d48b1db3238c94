#include "digest/key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <thread>

namespace digest {
namespace {

TEST(Key, IsTheOneSquidComputes) {
  struct Case {
    Method method;
    const char* url;
    const char* hex;
  };
  // The last two: a URL, and a variant's with its Vary mark appended.
  constexpr Case kCases[] = {
      {Method::get, "http://example.com/", "5c9109034c1d089fb6d92f7258b2f5c3"},
      {Method::get, "http://example.com/index.html", "10de64155c9dc1eba241447b4491374d"},
      {Method::get, "http://127.0.0.1:8080/obj/1", "d33c1b7b87560c0a4e3a6bf660a4ca91"},
      {Method::get, "http://www.example.org/a?x=1&y=2", "a168832da656971ac326e9532270f24a"},
      {Method::get, "https://example.net/img/logo.png", "ae612bb345656ed069421c6f5f261a61"},
      {Method::head, "http://example.com/", "09f9cbaf232773d5a8d6dc9ec02b1b12"},
      {Method::get, "http://example.com/v", "80809d89b0c8c8e82dbaf033781a8d62"},
      {Method::get, "http://example.com/vaccept-encoding=\"gzip\"",
       "8b5ebb7872acf042caf1dcda8d334e3b"},
  };
  for (const Case& c : kCases) EXPECT_EQ(to_hex(key_of(c.method, c.url)), c.hex) << c.url;
}

TEST(Key, DependsOnEveryMethod) {
  for (std::uint8_t a = 1; a <= 8; ++a) {
    for (std::uint8_t b = 1; b < a; ++b) {
      EXPECT_NE(key_of(Method{a}, "http://h/"), key_of(Method{b}, "http://h/"));
    }
  }
}

TEST(Key, OfAnEmptyUrlIsTheHashOfTheMethodAlone) {
  EXPECT_EQ(to_hex(key_of(Method::get, {})), "55a54008ad1ba589aa210d2629c1df41");
}

TEST(Key, IsTheSameOnEveryThread) {
  Key elsewhere;
  std::thread([&elsewhere] { elsewhere = key_of(Method::get, "http://h/"); }).join();
  EXPECT_EQ(elsewhere, key_of(Method::get, "http://h/"));
}

// One salt in some thousands spreads a few thousand keys badly, so the tests have always the same.
const RandomWords kSeeded = std::mt19937_64(1);
[[maybe_unused]] const Salt& kSaltOfTests = process_salt(&kSeeded);

// Keys that a stranger can choose by trying many URLs: all alike but for two bytes.
TEST(KeyHash, SpreadsKeysThatAreNearlyAlike) {
  constexpr std::size_t kKeys = 6400;
  constexpr std::size_t kParts = 64;
  std::set<std::size_t> hashes;
  std::array<std::size_t, kParts> in_part{};
  for (std::size_t i = 0; i < kKeys; ++i) {
    Key key = key_of(Method::get, "http://h/");
    key.bytes[6] = static_cast<std::uint8_t>(i);
    key.bytes[7] = static_cast<std::uint8_t>(i >> 8);
    EXPECT_EQ(KeyHash{}(key), KeyHash{}(key));
    hashes.insert(KeyHash{}(key));
    ++in_part[part_of(key, kParts)];
  }
  EXPECT_EQ(hashes.size(), kKeys);
  EXPECT_LT(*std::max_element(in_part.begin(), in_part.end()), 2 * kKeys / kParts);
  EXPECT_GT(*std::min_element(in_part.begin(), in_part.end()), kKeys / kParts / 2);
}

}  // namespace
}  // namespace digest

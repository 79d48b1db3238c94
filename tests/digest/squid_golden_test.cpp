// Bytes captured from Debian's Squid 5.7, and vectors computed by the same formula.
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <string>
#include <string_view>

#include "digest/squid_digest.hpp"
#include "keys.hpp"

namespace digest {
namespace {

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const auto byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string sha256(std::span<const std::uint8_t> bytes) {
  std::array<std::uint8_t, 32> hash{};
  EVP_Digest(bytes.data(), bytes.size(), hash.data(), nullptr, EVP_sha256(), nullptr);
  return hex(hash);
}

Key key_of_url(std::string_view url) {
  return key_of(Method::get, url);
}

struct Vector {
  const char* url;
  std::vector<std::uint64_t> of_80;
  std::vector<std::uint64_t> of_5000;
};

const Vector kVectors[] = {
    {"http://example.com/", {19, 47, 50, 51}, {3899, 1167, 1770, 3331}},
    {"http://example.com/index.html", {69, 27, 43, 45}, {69, 2667, 1363, 2565}},
    {"http://127.0.0.1:8080/obj/1", {11, 58, 54, 17}, {1771, 3338, 1574, 2497}},
    {"http://www.example.org/a?x=1&y=2", {61, 74, 19, 42}, {1101, 2634, 2219, 2402}},
    {"https://example.net/img/logo.png", {3, 48, 15, 1}, {3763, 408, 335, 2641}},
};

TEST(SquidGolden, BitsOfKnownUrls) {
  const Positions of_80({80, 4, Derivation::squid_words});
  const Positions of_5000({5000, 4, Derivation::squid_words});
  for (const Vector& vector : kVectors) {
    EXPECT_EQ(bits_of(of_80, key_of_url(vector.url)), vector.of_80) << vector.url;
    EXPECT_EQ(bits_of(of_5000, key_of_url(vector.url)), vector.of_5000) << vector.url;
  }
}

TEST(SquidGolden, WholeBodyOfFiveUrls) {
  auto digest = SquidDigest::empty(16, 5);
  ASSERT_TRUE(digest.has_value());
  for (const Vector& vector : kVectors) digest->insert(key_of_url(vector.url));
  EXPECT_EQ(digest->filter.bits_set(), 19U);
  EXPECT_FALSE(digest->filter.contains(key_of_url("http://example.com/absent")));
  EXPECT_FALSE(digest->filter.contains(key_of_url("http://example.com/other")));

  const auto body = encode(*digest);
  ASSERT_TRUE(body.has_value());
  EXPECT_EQ(body->size(), 138U);
  EXPECT_EQ(hex(std::span(*body).first(24)), "000500030000001000000005000000000000000a05040000");
  EXPECT_EQ(hex(std::span(*body).subspan(128)), "0a880a0800ac4d242004");
  EXPECT_EQ(sha256(*body), "1ed1ebcf81f94c78a1661f723a942864e350d0b8d1543c4171520a7c2e744bd0");
}

constexpr std::string_view kIcons[] = {"SN",
                                       "silk/application",
                                       "silk/arrow_up",
                                       "silk/bomb",
                                       "silk/box",
                                       "silk/bricks",
                                       "silk/bullet_red",
                                       "silk/cd",
                                       "silk/chart_line",
                                       "silk/compress",
                                       "silk/computer_link",
                                       "silk/css",
                                       "silk/cup",
                                       "silk/database",
                                       "silk/database_table",
                                       "silk/drive_disk",
                                       "silk/film",
                                       "silk/film_key",
                                       "silk/folder",
                                       "silk/folder_table",
                                       "silk/image",
                                       "silk/information",
                                       "silk/layers",
                                       "silk/layout",
                                       "silk/link",
                                       "silk/music",
                                       "silk/package",
                                       "silk/package_go",
                                       "silk/page_code",
                                       "silk/page_excel",
                                       "silk/page_green",
                                       "silk/page_white",
                                       "silk/page_white_acrobat",
                                       "silk/page_white_c",
                                       "silk/page_white_cplusplus",
                                       "silk/page_white_flash",
                                       "silk/page_white_magnify",
                                       "silk/page_white_picture",
                                       "silk/page_white_powerpoint",
                                       "silk/page_white_stack",
                                       "silk/page_white_text",
                                       "silk/page_white_word",
                                       "silk/page_white_zip",
                                       "silk/page_world",
                                       "silk/photo",
                                       "silk/picture",
                                       "silk/plugin",
                                       "silk/plugin_add",
                                       "silk/script",
                                       "silk/script_gear",
                                       "silk/script_palette"};

Key key_of_icon(std::string_view icon) {
  std::string url = "http://squid.test:9003/squid-internal-static/icons/";
  return key_of_url(url.append(icon).append(".png"));
}

TEST(SquidGolden, IdleSquidsDigestRebuiltFromItsIcons) {
  auto digest = SquidDigest::empty(51, 5);
  ASSERT_TRUE(digest.has_value());
  for (const auto icon : kIcons) digest->insert(key_of_icon(icon));
  EXPECT_EQ(digest->filter.bits_set(), 136U);
  EXPECT_EQ(hex(digest->filter.bytes()),
            "3898ff86f2b7f20276f64d45754244133def73315589d3f7634e8c225b57f5aa");

  const auto body = encode(*digest);
  ASSERT_TRUE(body.has_value());
  EXPECT_EQ(sha256(*body), "b96d082ae8b4b3fadb7be34dfa640384101c2609b0976937826e61ac1fbbe1f0");
  EXPECT_EQ(*decode(*body), *digest);
}

TEST(SquidGolden, KeysAndBitsOfTwoIcons) {
  using Bits = std::vector<std::uint64_t>;
  const Positions positions({256, 4, Derivation::squid_words});
  EXPECT_EQ(to_hex(key_of_icon("SN")), "7551e119df4c1e79bc47df8d743c4ae9");
  EXPECT_EQ(bits_of(positions, key_of_icon("SN")), (Bits{25, 121, 141, 233}));
  EXPECT_EQ(to_hex(key_of_icon("silk/layout")), "9036efaf39fd48886a7f6f2647cdcd31");
  EXPECT_EQ(bits_of(positions, key_of_icon("silk/layout")), (Bits{175, 136, 38, 49}));
}

}  // namespace
}  // namespace digest

#include "proxy/policy/known_urls.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <sstream>
#include <stdexcept>

#include "tests/support/temporary_directory.hpp"

namespace proxy::policy {
namespace {

KnownUrls known(const std::string& lines) {
  std::istringstream in(lines);
  return KnownUrls(in);
}

bool has(const KnownUrls& urls, std::string_view host, std::string_view path) {
  return urls.may_have(http::parse_target("GET", path, host).value());
}

// To open a pipe would wait for a writer.
TEST(KnownUrls, AreNotReadFromAPipe) {
  const support::TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(KnownUrls::of_file(directory / "pipe"), std::runtime_error);
}

TEST(KnownUrls, AreWholeOrFromThePathOn) {
  const auto urls = known(
      "# a comment\n\n  http://A.test:80/x?y=1 \r\nhttps://b.test/\nhttp://c.test:81\n/z\r\n/last");
  EXPECT_TRUE(has(urls, "a.test", "/x?y=1"));
  EXPECT_TRUE(has(urls, "b.test", "/"));
  EXPECT_TRUE(has(urls, "c.test:81", "/"));
  EXPECT_TRUE(has(urls, "any.test", "/z"));
  EXPECT_TRUE(has(urls, "any.test:82", "/last"));
  EXPECT_FALSE(has(urls, "a.test", "/x"));
  EXPECT_FALSE(has(urls, "a.test:82", "/x?y=1"));
  EXPECT_FALSE(has(urls, "a.test", "/Z"));
  EXPECT_FALSE(has(urls, "c.test", "/"));
}

TEST(KnownUrls, OfAnEmptyFileAreNone) {
  EXPECT_FALSE(has(known(""), "a.test", "/"));
}

// A pipe would give its lines to the count and none to the filter: then nothing would be known.
TEST(KnownUrls, AreRefusedFromWhatIsReadOnlyOnce) {
  struct Pipe : std::stringbuf {
    explicit Pipe(const std::string& text) : std::stringbuf(text, std::ios::in) {}
    pos_type seekpos(pos_type, std::ios::openmode) override { return -1; }
  };
  Pipe pipe("/a\n");
  std::istream in(&pipe);
  EXPECT_THROW(KnownUrls{in}, std::runtime_error);
}

TEST(KnownUrls, AreAllFoundAndOthersAsSeldomAsStated) {
  constexpr int kCount = 100'000;
  std::string lines;
  for (int i = 0; i < kCount; ++i) lines += "/" + std::to_string(i) + '\n';
  const auto urls = known(lines);
  int missing = 0;
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    missing += has(urls, "a.test", "/" + std::to_string(i)) ? 0 : 1;
    wrong += has(urls, "a.test", "/no/" + std::to_string(i)) ? 1 : 0;
  }
  EXPECT_EQ(missing, 0);
  // Each is looked up whole and by its path; 20 are expected.
  EXPECT_LE(wrong, 50);
}

TEST(KnownUrls, AreRefusedWithTheLineThatIsNone) {
  for (const auto& [lines, words] :
       {std::pair<std::string, std::string>{"/a\nb\n", "line 2 is no URL"},
        {"ftp://a/", "line 1 is no URL"},
        {"/a#b", "line 1 is no URL"},
        {std::string("/a\0b\n", 5), "line 1 is no URL"},
        {"\n\n/a b\n", "line 3 is no URL"},
        {"/a\n/" + std::string(10'000, 'a'), "line 2 is too long"},
        {std::string(10'000, 'a') + "\n/a", "line 1 is too long"}}) {
    try {
      known(lines);
      ADD_FAILURE() << words;
    } catch (const std::runtime_error& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(words)) << error.what();
    }
  }
}

}  // namespace
}  // namespace proxy::policy

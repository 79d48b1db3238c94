#include "proxy/fetching/object_writer.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/policy/requests.hpp"

namespace proxy::fetching {
namespace {

constexpr std::uint64_t kLarge = 4 << 20;
constexpr std::uint64_t kMiB = 1 << 20;
const std::string kTag = "ETag: \"v1\"\r\n";

struct Answer {
  unsigned status = 200;
  std::string lines;
  std::optional<std::uint64_t> length;
  std::string of_client = {};
  std::optional<http::AskedRange> range_override = {};
};

std::optional<std::uint64_t> length_of(const Answer& given) {
  cache::Budget budget(1 << 20);
  const policy::TextRequest request(given.of_client);
  const policy::TextAnswer answer(given.status, "Cache-Control: max-age=60\r\n" + given.lines);
  const cache::Time now{std::chrono::sys_days{std::chrono::January / 1 / 2024}};
  const auto entry = cache::Entry::make(budget, cache::Received{.url = "http://a.test/x",
                                                                .request = (*request).head.fields,
                                                                .response = answer.head,
                                                                .times = {now, now},
                                                                .our_name = "us"});
  return object_length(*entry, given.length, (*request).facts, given.range_override, kLarge);
}

std::string range(const std::string& value) {
  return kTag + "Content-Range: bytes " + value + "\r\n";
}

TEST(ObjectLength, OfAWholeIsItsOwnIfThatIsToldAndLarge) {
  EXPECT_EQ(length_of({200, kTag, kLarge + 1}), kLarge + 1);
  EXPECT_EQ(length_of({200, "", kLarge + 1}), kLarge + 1);
  EXPECT_EQ(length_of({200, kTag, kLarge}), std::nullopt);
  EXPECT_EQ(length_of({200, kTag, std::nullopt}), std::nullopt);
  EXPECT_EQ(length_of({404, kTag, kLarge + 1}), std::nullopt);
  EXPECT_EQ(length_of({200, kTag + "Vary: *\r\n", kLarge + 1}), std::nullopt);
}

TEST(ObjectLength, OfTheBlocksThatWereAskedForIsTheCompleteOne) {
  const std::string of_client = "Range: bytes=1100000-1200000\r\n";
  const http::AskedRange blocks{kMiB, 2 * kMiB - 1};
  const auto lines = range("1048576-2097151/9000000");
  EXPECT_EQ(length_of({206, lines, kMiB, of_client, blocks}), 9'000'000U);
  EXPECT_EQ(length_of({206, lines, kMiB, of_client}), std::nullopt) << "nobody asked for them";
  EXPECT_EQ(length_of({206, lines, kMiB - 1, of_client, blocks}), std::nullopt);
  EXPECT_EQ(length_of({206, lines, std::nullopt, of_client, blocks}), std::nullopt);
  EXPECT_EQ(length_of({206, range("1048576-2097151/*"), kMiB, of_client, blocks}), std::nullopt);
  EXPECT_EQ(length_of({206, range("1048577-2097151/9000000"), kMiB - 1, of_client, blocks}),
            std::nullopt);
  const auto weak = "ETag: W/\"v1\"\r\nContent-Range: bytes 1048576-2097151/9000000\r\n";
  EXPECT_EQ(length_of({206, weak, kMiB, of_client, blocks}), std::nullopt);
}

TEST(ObjectLength, OfAShorterLastBlockIsTheCompleteOne) {
  const http::AskedRange to_the_end{kMiB, std::nullopt};
  const Answer last{206, range("1048576-1500000/1500001"), 451'425, "Range: bytes=1100000-\r\n",
                    to_the_end};
  EXPECT_EQ(length_of(last), 1'500'001U);
}

TEST(ObjectLength, OfALargePartWithoutARangeOverrideIsTheCompleteOne) {
  const auto lines = range("500000-8999999/9000000");
  const std::string of_client = "Range: bytes=-8500000\r\n";
  EXPECT_EQ(length_of({206, lines, 8'500'000, of_client}), 9'000'000U);
  EXPECT_EQ(length_of({206, lines, 8'500'000, of_client + "If-Range: \"v1\"\r\n"}), std::nullopt);
  EXPECT_EQ(length_of({206, lines, 8'500'000, of_client + "Authorization: Basic YTpi\r\n"}),
            std::nullopt);
}

TEST(ObjectLength, OfAllOfASmallResponseIsNone) {
  const http::AskedRange all{0, std::nullopt};
  const auto lines = range("0-1999999/2000000");
  EXPECT_EQ(length_of({206, lines, 2'000'000, "Range: bytes=0-\r\n", all}), std::nullopt);
  EXPECT_EQ(length_of({206, lines, 2'000'000, "Range: bytes=0-100000\r\n", all}), 2'000'000U);
}

}  // namespace
}  // namespace proxy::fetching

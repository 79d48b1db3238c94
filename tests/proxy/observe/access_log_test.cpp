#include "proxy/observe/access_log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tests/proxy/observe/logged_request.hpp"
#include "tests/support/await.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::observe {
namespace {

using namespace std::chrono_literals;
using support::read_file;
using support::TemporaryDirectory;

nlohmann::json json_line(const LoggedRequest& request) {
  std::string line;
  append_json_line(line, request.entry());
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  return nlohmann::json::parse(line);
}

TEST(SquidLine, IsSquidsNativeFormat) {
  EXPECT_EQ(squid_line({}),
            "1700000000.042      7 192.0.2.7 TCP_MEM_HIT/200 1234 GET http://a.test/x - "
            "HIER_NONE/- text/html\n");
}

TEST(SquidLine, TellsWhereAnAnswerCameFromAndWhatBecameOfIt) {
  LoggedRequest request;
  request.record.tag = Tag::miss;
  request.record.hierarchy = Hierarchy::sibling;
  request.record.upstream_host = "10.0.0.2";
  request.record.collapsed = true;
  request.record.aborted = true;
  request.record.content_type.clear();
  EXPECT_EQ(squid_line(request),
            "1700000000.042      7 192.0.2.7 TCP_CF_MISS_ABORTED/200 1234 GET http://a.test/x - "
            "CD_SIBLING_HIT/10.0.0.2 -\n");
}

TEST(SquidLine, TellsWhyTheProxyCutTheResponse) {
  LoggedRequest request;
  request.record.tag = Tag::miss;
  request.record.aborted = true;
  request.record.cut = Cut::stalled;
  EXPECT_NE(squid_line(request).find(" TCP_MISS_ABORTED_STALLED/200 "), std::string::npos)
      << squid_line(request);
}

// Log analysers keep questions of ICP apart from what clients got.
TEST(SquidLine, OfANeighboursQuestionLooksLikeOneOfIcp) {
  LoggedRequest request;
  request.record.tag = Tag::site_question;
  request.record.question = true;
  request.record.status = 504;
  EXPECT_EQ(squid_line(request),
            "1700000000.042      7 192.0.2.7 UDP_SITE_QUESTION/000 1234 ICP_QUERY http://a.test/x "
            "- HIER_NONE/- text/html\n");
  request.record.tag = Tag::denied;
  EXPECT_NE(squid_line(request).find(" UDP_DENIED/000 1234 ICP_QUERY "), std::string::npos)
      << squid_line(request);
}

TEST(SquidLine, EndsInWhyNothingWasStoredAndWhyARequestFailed) {
  LoggedRequest request;
  request.record.storability = cache::Storability::no_store;
  request.record.failure = "cut";
  EXPECT_TRUE(squid_line(request).ends_with(" text/html not-stored/no-store failure/cut\n"))
      << squid_line(request);
}

TEST(SquidLine, OfARequestThatCouldNotBeReadHasAllItsWords) {
  LoggedRequest request{.method = "", .url = "error:invalid-request", .record = {}};
  request.record.status = 400;
  EXPECT_EQ(squid_line(request),
            "1700000000.042      7 192.0.2.7 NONE_NONE/400 0 - error:invalid-request - HIER_NONE/- "
            "-\n");
}

TEST(SquidLine, NothingInARequestCanForgeALine) {
  LoggedRequest request;
  request.method = "G\tET";
  request.url = "http://a.test/ 200\r\n1 \"\x1b[2J\x7f\xff";
  request.record.content_type = "text/html\n1700000000.042 forged";
  request.record.upstream_host = "a b";
  EXPECT_EQ(squid_line(request),
            "1700000000.042      7 192.0.2.7 TCP_MEM_HIT/200 1234 G%09ET "
            "http://a.test/%20200%0D%0A1%20%22%1B[2J%7F%FF - HIER_NONE/a%20b "
            "text/html%0A1700000000.042%20forged\n");
}

TEST(JsonLine, HasEachFactUnderItsName) {
  LoggedRequest request;
  request.record.tag = Tag::miss;
  request.record.hierarchy = Hierarchy::direct;
  request.record.upstream_host = "a.test";
  EXPECT_EQ(json_line(request), nlohmann::json::parse(R"({
    "time": 1700000000.042, "elapsed_ms": 7, "client": "192.0.2.7", "result": "TCP_MISS",
    "status": 200, "bytes": 1234, "method": "GET", "url": "http://a.test/x",
    "hierarchy": "HIER_DIRECT", "upstream": "a.test", "type": "text/html"})"));
}

TEST(JsonLine, OfANeighboursQuestionSaysWhatItWasAndWhatItGot) {
  LoggedRequest request;
  request.record.tag = Tag::site_question;
  request.record.question = true;
  request.record.status = 504;
  const auto line = json_line(request);
  EXPECT_EQ(line.at("result"), "UDP_SITE_QUESTION");
  EXPECT_EQ(line.at("method"), "GET");
  EXPECT_EQ(line.at("status"), 504);
}

TEST(JsonLine, SaysWhyNothingWasStoredAndWhyARequestFailed) {
  LoggedRequest request;
  request.record.storability = cache::Storability::max_age;
  request.record.failure = "cut";
  EXPECT_EQ(json_line(request).at("not_stored"), "max-age");
  EXPECT_EQ(json_line(request).at("failure"), "cut");
}

TEST(JsonLine, ListsTheSourcesThatWereAsked) {
  LoggedRequest request;
  request.record.asked = {{"b", "false-hit", "gone", 1500us}, {"origin", "answered", {}, 80ms}};
  EXPECT_EQ(json_line(request).at("asked"), nlohmann::json::parse(R"([
    {"source": "b", "result": "false-hit", "cause": "gone", "first_byte_ms": 1.5},
    {"source": "origin", "result": "answered", "first_byte_ms": 80.0}])"));
}

TEST(JsonLine, NothingInARequestCanForgeALine) {
  LoggedRequest request;
  request.url = "http://a.test/\",\n\"status\":1\xff";
  const auto line = json_line(request);
  EXPECT_EQ(line["status"], 200);
  EXPECT_EQ(line["url"], "http://a.test/\",\n\"status\":1\xEF\xBF\xBD");
}

TEST(AccessLog, WritesTheLinesOfAllThreadsByItsEnd) {
  const TemporaryDirectory directory;
  const LoggedRequest request;
  {
    AccessLog log(log_to(directory / "log"), 2, the_clock());
    log.of_thread(0).add(request.entry());
    log.of_thread(1).add(request.entry());
  }
  EXPECT_EQ(read_file(directory / "log"), squid_line(request) + squid_line(request));
}

TEST(AccessLog, AppendsToWhatIsThere) {
  const TemporaryDirectory directory;
  support::write_file(directory / "log", "old\n");
  auto settings = log_to(directory / "log");
  settings.format = config::LogFormat::json;
  {
    AccessLog log(settings, 1, the_clock());
    log.of_thread(0).add(LoggedRequest{}.entry());
  }
  std::string expected = "old\n";
  append_json_line(expected, LoggedRequest{}.entry());
  EXPECT_EQ(read_file(directory / "log"), expected);
}

TEST(AccessLog, WritesNothingWhereNoneIsWanted) {
  const TemporaryDirectory directory;
  auto settings = log_to(directory / "log");
  settings.access = config::LogTarget::none;
  {
    AccessLog log(settings, 1, the_clock());
    EXPECT_FALSE(log.on());
    log.of_thread(0).add(LoggedRequest{}.entry());
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "log"));
}

TEST(AccessLog, AfterARotationLinesGoToTheNewFile) {
  const TemporaryDirectory directory;
  const LoggedRequest request;
  {
    AccessLog log(log_to(directory / "log"), 1, the_clock());
    std::filesystem::rename(directory / "log", directory / "log.1");
    log.reopen();
    log.of_thread(0).add(request.entry());
  }
  EXPECT_EQ(read_file(directory / "log"), squid_line(request));
  EXPECT_EQ(read_file(directory / "log.1"), "");
}

TEST(AccessLog, KeepsTheOldFileWhereTheNewOneCannotBeOpened) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "logs");
  const LoggedRequest request;
  {
    AccessLog log(log_to(directory / "logs" / "log"), 1, the_clock());
    std::filesystem::rename(directory / "logs", directory / "moved");
    log.reopen();
    log.of_thread(0).add(request.entry());
  }
  EXPECT_EQ(read_file(directory / "moved" / "log"), squid_line(request));
}

TEST(AccessLog, GoesOnInAnotherOutputAndFormat) {
  const TemporaryDirectory directory;
  const LoggedRequest request;
  {
    AccessLog log(log_to(directory / "log"), 1, the_clock());
    log.of_thread(0).add(request.entry());
    auto json = log_to(directory / "json");
    json.format = config::LogFormat::json;
    log.follow(AccessLog::Output(json));
    ASSERT_TRUE(
        support::await([&] { return read_file(directory / "log") == squid_line(request); }));
    log.of_thread(0).add(request.entry());
  }
  EXPECT_EQ(read_file(directory / "log"), squid_line(request));
  std::string expected;
  append_json_line(expected, request.entry());
  EXPECT_EQ(read_file(directory / "json"), expected);
}

TEST(AccessLog, IsTurnedOnAndOff) {
  const TemporaryDirectory directory;
  const LoggedRequest request;
  auto off = log_to(directory / "log");
  off.access = config::LogTarget::none;
  {
    AccessLog log(off, 1, the_clock());
    log.follow(AccessLog::Output(log_to(directory / "log")));
    EXPECT_TRUE(log.on());
    log.of_thread(0).add(request.entry());
    log.follow(AccessLog::Output(off));
    EXPECT_FALSE(log.on());
    ASSERT_TRUE(
        support::await([&] { return read_file(directory / "log") == squid_line(request); }));
    log.of_thread(0).add(request.entry());
  }
  EXPECT_EQ(read_file(directory / "log"), squid_line(request));
}

std::size_t count_lines_to_the_end(int fd) {
  std::array<char, 65536> part{};
  std::size_t lines = 0;
  for (ssize_t n = 1; n > 0;) {
    n = ::read(fd, part.data(), part.size());
    lines +=
        static_cast<std::size_t>(std::count(part.begin(), part.begin() + std::max(n, 0L), '\n'));
  }
  return lines;
}

// A pipe that nobody reads stands for a disk that is too slow.
TEST(AccessLog, DropsAndCountsWhatItCannotWriteInTime) {
  constexpr std::size_t kLines = 40;
  const TemporaryDirectory directory;
  const auto path = directory / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reading = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  LoggedRequest request;
  request.url.assign(1 << 20, 'x');
  std::size_t dropped = 0;
  std::size_t written = 0;
  std::jthread reader;
  {
    AccessLog log(log_to(path), 1, the_clock());
    for (std::size_t i = 0; i < kLines; ++i) log.of_thread(0).add(request.entry());
    dropped = log.dropped();
    ::fcntl(reading, F_SETFL, 0);
    reader = std::jthread([&] { written = count_lines_to_the_end(reading); });
  }
  reader.join();
  ::close(reading);
  EXPECT_GE(dropped, kLines - 20) << "8 MiB may wait, and 8 MiB be on their way";
  EXPECT_EQ(written, kLines - dropped);
}

}  // namespace
}  // namespace proxy::observe

// The access log without its file, and on a full disk.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "tests/proxy/observe/logged_request.hpp"
#include "tests/support/await.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::observe {
namespace {

using support::read_file;
using support::TemporaryDirectory;

TEST(AccessLog, WritesWhatHasWaitedOnceItsFolderIsThere) {
  const TemporaryDirectory directory;
  const auto path = directory / "late" / "log";
  const LoggedRequest request;
  AccessLog log(log_to(path), 1, the_clock());
  EXPECT_NE(log.fault()->text.find("cannot open " + path.string()), std::string::npos)
      << log.fault()->text;
  EXPECT_NE(log.fault()->text.find("make the folder"), std::string::npos) << log.fault()->text;
  log.of_thread(0).add(request.entry());
  std::filesystem::create_directory(directory / "late");
  ASSERT_TRUE(support::await(
      [&] { return std::filesystem::exists(path) && read_file(path) == squid_line(request); }));
  EXPECT_FALSE(log.fault());
}

// The folder may come a moment before the end, sooner than the next try.
TEST(AccessLog, TriesItsFileOnceMoreAtItsEnd) {
  const TemporaryDirectory directory;
  const LoggedRequest request;
  AccessLog log(log_to(directory / "late" / "log"), 1, the_clock());
  log.of_thread(0).add(request.entry());
  std::filesystem::create_directory(directory / "late");
  log.end();
  EXPECT_EQ(read_file(directory / "late" / "log"), squid_line(request));
  EXPECT_EQ(log.dropped(), 0U);
}

TEST(AccessLog, CountsWhatHasWaitedInVain) {
  const TemporaryDirectory directory;
  AccessLog log(log_to(directory / "late" / "log"), 2, the_clock());
  log.of_thread(0).add(LoggedRequest{}.entry());
  log.of_thread(1).add(LoggedRequest{}.entry());
  log.end();
  EXPECT_EQ(log.dropped(), 2U);
}

// The limit of a file's size stands for a disk that fills.
class AccessLogOfAFullDisk : public testing::Test {
 protected:
  AccessLogOfAFullDisk() : earlier_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &whole_);
  }
  ~AccessLogOfAFullDisk() override {
    allow(whole_.rlim_cur);
    std::signal(SIGXFSZ, earlier_);
  }
  void allow(rlim_t bytes) const {
    const rlimit limit{bytes, whole_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }

  const TemporaryDirectory directory_;
  const LoggedRequest request_;

 private:
  void (*earlier_)(int);
  rlimit whole_{};
};

TEST_F(AccessLogOfAFullDisk, BeginsTheNextLineOnALineOfItsOwnAlsoWhereTheFileIsOpenedAnew) {
  const auto line = squid_line(request_);
  for (const bool anew : {false, true}) {
    const auto path = directory_ / (anew ? "anew" : "log");
    AccessLog log(log_to(path), 1, the_clock());
    allow(line.size() + 10);
    for (int i = 0; i < 2; ++i) log.of_thread(0).add(request_.entry());
    ASSERT_TRUE(support::await([&] { return log.dropped() > 0; }));
    allow(RLIM_INFINITY);
    if (anew) log.follow(AccessLog::Output(log_to(path)));
    log.of_thread(0).add(request_.entry());
    log.end();
    EXPECT_EQ(read_file(path), line + line.substr(0, 10) + '\n' + line) << anew;
  }
}

TEST_F(AccessLogOfAFullDisk, DoesNotSayThatTheOldFileGetsTheLines) {
  const auto folder = directory_ / "logs";
  const auto says = [](AccessLog& log, const char* text) {
    return support::await([&] {
      const auto fault = log.fault();
      return fault && fault->text.find(text) != std::string::npos;
    });
  };
  std::filesystem::create_directory(folder);
  AccessLog log(log_to(folder / "log"), 1, the_clock());
  std::filesystem::rename(folder, directory_ / "moved");
  log.reopen();
  ASSERT_TRUE(says(log, "lines go to the old file meanwhile"));
  allow(0);
  log.of_thread(0).add(request_.entry());
  EXPECT_TRUE(says(log, "lines are lost (File too large) meanwhile"));
  allow(RLIM_INFINITY);
  log.of_thread(0).add(request_.entry());
  EXPECT_TRUE(says(log, "lines go to the old file meanwhile"));
}

TEST(AccessLog, KeepsLittleWhileItHasNoFile) {
  const TemporaryDirectory directory;
  LoggedRequest request;
  request.url.assign(1 << 18, 'x');
  AccessLog log(log_to(directory / "late" / "log"), 1, the_clock());
  ASSERT_TRUE(support::await([&] {
    log.of_thread(0).add(request.entry());
    return log.dropped() > 0;
  }));
  std::filesystem::create_directory(directory / "late");
  ASSERT_TRUE(support::await([&] { return !log.fault(); }));
  log.end();
  EXPECT_LT(std::filesystem::file_size(directory / "late" / "log"), 9U << 20);
}

TEST(AccessLog, OpensADeletedFileAnew) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "logs");
  const LoggedRequest request;
  AccessLog log(log_to(directory / "logs" / "log"), 1, the_clock());
  std::filesystem::remove_all(directory / "logs");
  ASSERT_TRUE(support::await([&] { return log.fault().has_value(); }));
  log.of_thread(0).add(request.entry());
  std::filesystem::create_directory(directory / "logs");
  ASSERT_TRUE(support::await([&] { return !log.fault(); }));
  log.end();
  EXPECT_EQ(read_file(directory / "logs" / "log"), squid_line(request));
}

TEST(AccessLog, TellsThatItsFileCannotBeWritten) {
  AccessLog log(log_to("/dev/full"), 1, the_clock());
  EXPECT_FALSE(log.fault());
  const LoggedRequest request;
  log.of_thread(0).add(request.entry());
  ASSERT_TRUE(support::await([&] { return log.fault().has_value(); }));
  EXPECT_NE(log.fault()->text.find("No space left"), std::string::npos) << log.fault()->text;
  EXPECT_EQ(log.dropped(), 1U);
  log.end();
  EXPECT_TRUE(log.fault()) << "nothing was written since";
}

}  // namespace
}  // namespace proxy::observe

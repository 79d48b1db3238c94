#include "proxy/machine/sandbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "tests/proxy/machine/child.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::machine::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr int kReading = O_RDONLY | O_CLOEXEC;
constexpr int kCreating = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
constexpr int kSegment = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;

int opened(const fs::path& path, int how) {
  return error_if(::open(path.c_str(), how, 0600) < 0);
}

// A home with the folders "in" and "out", each with a file "a".
class FileLimits : public testing::Test {
 protected:
  void SetUp() override {
    if (landlock_version() == 0) GTEST_SKIP() << "no Landlock here";
    for (const auto& folder : {in_, out_}) {
      fs::create_directory(folder);
      support::write_file(folder / "a", "text");
    }
  }

  template <class Body>
  static int within(const std::vector<Grant>& grants, const Body& body) {
    return in_child([&] {
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      return limit_files(grants) ? body() : kNotLimited;
    });
  }
  static int opening(const std::vector<Grant>& grants, const fs::path& path, int how) {
    return within(grants, [&] { return opened(path, how); });
  }

  support::TemporaryDirectory home_;
  fs::path in_ = home_ / "in";
  fs::path out_ = home_ / "out";
};

TEST_F(FileLimits, LetFilesOfAFolderBeRemovedAndNothingElse) {
  const std::vector<Grant> grants{{in_, Use::remove}};
  EXPECT_EQ(opening(grants, in_ / "a", kReading), EACCES);
  EXPECT_EQ(opening(grants, in_ / "b", kCreating), EACCES);
  EXPECT_EQ(within(grants, [&] { return error_if(::unlink((out_ / "a").c_str()) != 0); }), EACCES);
  EXPECT_EQ(within(grants, [&] { return error_if(::unlink((in_ / "a").c_str()) != 0); }), 0);
}

TEST_F(FileLimits, LetAFolderBeReadAndNothingElse) {
  const std::vector<Grant> grants{{in_}};
  EXPECT_EQ(opening(grants, in_ / "a", kReading), 0);
  EXPECT_EQ(opening(grants, in_, kReading | O_DIRECTORY), 0);
  EXPECT_EQ(opening(grants, in_ / "a", O_WRONLY), EACCES);
  EXPECT_EQ(opening(grants, in_ / "new", kCreating), EACCES);
  EXPECT_EQ(opening(grants, out_ / "a", kReading), EACCES);
  EXPECT_EQ(opening(grants, "/etc/passwd", kReading), EACCES);
  EXPECT_EQ(opening(grants, "/proc/self/environ", kReading), EACCES);
}

TEST_F(FileLimits, FollowNoLinkOutOfTheFolder) {
  fs::create_symlink(out_ / "a", in_ / "link");
  EXPECT_EQ(opening({{in_}}, in_ / "link", kReading), EACCES);
  EXPECT_EQ(opening({{in_}}, in_ / "../out/a", kReading), EACCES);
}

TEST_F(FileLimits, LetALogBeWrittenAndRotatedButNotRead) {
  const std::vector<Grant> grants{{in_, Use::append}};
  EXPECT_EQ(opening(grants, in_ / "a", kCreating), 0);
  EXPECT_EQ(opening(grants, in_ / "new", kCreating), 0);
  EXPECT_EQ(opening(grants, in_ / "a", kReading), EACCES);
  EXPECT_EQ(opening(grants, out_ / "new", kCreating), EACCES);
  EXPECT_EQ(within(grants, [&] { return error_if(::unlink((in_ / "a").c_str()) != 0); }), EACCES);
}

TEST_F(FileLimits, LetACacheDoAllThatItDoesInAFolderThatIsMadeLater) {
  const int error = within({{in_, Use::store}}, [&] {
    const fs::path cache = in_ / "cache";
    const fs::path segment = cache / "segment";
    if (::mkdir(cache.c_str(), 0700) != 0) return errno;
    const int file = ::open(segment.c_str(), kSegment, 0600);
    if (file < 0 || ::ftruncate(file, 10) != 0) return errno;
    if (const int failed = opened(segment, kReading); failed != 0) return failed;
    if (const int failed = opened(cache, kReading | O_DIRECTORY); failed != 0) return failed;
    return error_if(::unlink(segment.c_str()) != 0);
  });
  EXPECT_EQ(error, 0);
  EXPECT_EQ(opening({{in_, Use::store}}, out_ / "a", O_WRONLY), EACCES);
}

TEST_F(FileLimits, CreateALogWhoseFolderIsNotGranted) {
  const std::vector<Grant> grants{{in_ / "log", Use::append, Make::file}};
  EXPECT_EQ(opening(grants, in_ / "log", kCreating), 0);
  EXPECT_EQ(opening(grants, in_ / "other", kCreating), EACCES);
  const std::vector<Grant> cache{{in_ / "cache", Use::store, Make::folder}};
  EXPECT_EQ(opening(cache, in_ / "cache/segment", kSegment), 0);
  const std::vector<Grant> folder{{in_ / "new/logs", Use::append, Make::folder}};
  EXPECT_EQ(opening(folder, in_ / "new/logs/log", kCreating), 0);
  EXPECT_EQ(opening(folder, in_ / "new/log", kCreating), EACCES);
}

TEST_F(FileLimits, HoldWhereAGrantedPathDoesNotExist) {
  const std::vector<Grant> grants{{home_ / "absent/log", Use::append}, {in_}};
  EXPECT_EQ(opening(grants, in_ / "a", kReading), 0);
  EXPECT_EQ(opening(grants, out_ / "a", kReading), EACCES);
  EXPECT_FALSE(fs::exists(home_ / "absent"));
}

TEST_F(FileLimits, HoldInThreadsThatStartLater) {
  const int error = within({{in_}}, [&] {
    int result = 0;
    std::thread([&] { result = opened(out_ / "a", kReading); }).join();
    return result;
  });
  EXPECT_EQ(error, EACCES);
}

TEST_F(FileLimits, LetNoTcpSocketBeBound) {
  if (landlock_version() < 4) GTEST_SKIP() << "since Linux 6.7";
  const int error = within({}, [] {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return error_if(::bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0);
  });
  EXPECT_EQ(error, EACCES);
}

}  // namespace
}  // namespace proxy::machine::sandbox

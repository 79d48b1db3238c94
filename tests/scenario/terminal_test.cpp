// The progress that `hearsay digest` shows at a terminal.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

// A shell script in its own terminal, where "$H" is the program. The destructor kills it.
class AtTerminal {
 public:
  AtTerminal(const std::string& script, const TemporaryDirectory& directory) {
    const std::string place = directory.path();
    const std::string whole = "H='" + hearsay_program() + "'; cd '" + place + "'; " + script;
    pid_ = ::forkpty(&master_, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      ::execl("/bin/sh", "sh", "-c", whole.c_str(), nullptr);
      ::_exit(127);
    }
    ::fcntl(master_, F_SETFL, O_NONBLOCK);
  }
  AtTerminal(const AtTerminal&) = delete;
  AtTerminal& operator=(const AtTerminal&) = delete;
  ~AtTerminal() {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(master_);
  }

  // All text that the terminal has shown.
  const std::string& shown() {
    std::array<char, 4096> some{};
    for (ssize_t count = 0; (count = ::read(master_, some.data(), some.size())) > 0;) {
      shown_.append(some.data(), static_cast<std::size_t>(count));
    }
    return shown_;
  }

  bool shows(std::string_view text) {
    return await([&] { return contains(shown(), text); });
  }

 private:
  int master_ = -1;
  pid_t pid_ = -1;
  std::string shown_;
};

// A pipe whose writing end is open while this object lives.
class Feed {
 public:
  explicit Feed(const std::string& path) {
    ::mkfifo(path.c_str(), 0600);
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  ~Feed() { end(); }

  void line(const std::string& text) const {
    const std::string line = text + '\n';
    EXPECT_EQ(::write(descriptor_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  void end() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
};

// Progress appears when lines arrive after the first second. This feeds a line every few
// milliseconds.
bool shown_while_fed(AtTerminal& terminal, const Feed& feed, std::string_view text) {
  int count = 0;
  return await([&] {
    feed.line("http://example.com/" + std::to_string(++count));
    return contains(terminal.shown(), text);
  });
}

TEST(DigestTerminal, ShowsHowFarABuildIsAndTakesItAwayBeforeTheReport) {
  const TemporaryDirectory directory;
  Feed feed(directory / "pipe");
  AtTerminal terminal("$H digest build -o f < pipe", directory);
  EXPECT_TRUE(shown_while_fed(terminal, feed, "building from standard input: 0.0 M lines"))
      << terminal.shown();
  feed.end();
  EXPECT_TRUE(terminal.shows("\r\x1b[Kfile")) << terminal.shown();
}

TEST(DigestTerminal, ShowsHowFarAUnionIs) {
  const TemporaryDirectory directory;
  AtTerminal terminal(
      "$H digest build -o f --capacity 10000000 < /dev/null;"
      "$H digest union -o g $(yes f | head -n 20000)",
      directory);
  EXPECT_TRUE(terminal.shows("uniting 20000 digests: ")) << terminal.shown();
}

TEST(DigestTerminal, ShowsNoProgressAmongLines) {
  const TemporaryDirectory directory;
  Feed feed(directory / "pipe");
  AtTerminal terminal("$H digest dedup < pipe", directory);
  const auto begun = std::chrono::steady_clock::now();
  int count = 0;
  EXPECT_TRUE(await([&] {
    feed.line(std::to_string(++count));
    return std::chrono::steady_clock::now() - begun > std::chrono::milliseconds(1500);
  }));
  feed.line("last");
  EXPECT_TRUE(terminal.shows("last")) << terminal.shown();
  EXPECT_FALSE(contains(terminal.shown(), "deduplicating")) << terminal.shown();
}

TEST(DigestTerminal, ShowsProgressWhereLinesGoElsewhere) {
  const TemporaryDirectory directory;
  const Feed feed(directory / "pipe");
  AtTerminal terminal("$H digest dedup --window 9 < pipe > lines", directory);
  EXPECT_TRUE(terminal.shows("filter bytes")) << terminal.shown();
  EXPECT_TRUE(shown_while_fed(terminal, feed, "deduplicating standard input: 0.0 M"))
      << terminal.shown();
}

}  // namespace
}  // namespace scenario

#include "proxy/command/lines.hpp"

#include "tests/proxy/command/said.hpp"

namespace proxy::command {
namespace {

struct Read {
  std::vector<std::string> lines;
  std::string trouble;
};

Read read_lines(std::string_view text) {
  const StreamFile file(text);
  const Streams streams{file.descriptor(), file.descriptor(), file.descriptor()};
  Progress progress(streams);
  const auto input = InputFile::open("-", streams);
  Lines lines(*input, progress);
  Read read;
  while (const auto line = lines.next()) read.lines.emplace_back(*line);
  if (lines.trouble()) read.trouble = lines.trouble()->text;
  return read;
}

using Texts = std::vector<std::string>;

TEST(Lines, EndInLfOrCrlfOrWithTheFile) {
  EXPECT_EQ(read_lines("").lines, Texts{});
  EXPECT_EQ(read_lines("\n").lines, Texts{""});
  EXPECT_EQ(read_lines("a\nb\r\n\nc").lines, (Texts{"a", "b", "", "c"}));
  EXPECT_EQ(read_lines("a\rb\r\r\n").lines, (Texts{"a\rb\r"}));
  EXPECT_EQ(read_lines(std::string_view("a\0b\n", 4)).lines, Texts{std::string("a\0b", 3)});
}

TEST(Lines, StayWholeAcrossReads) {
  std::string text;
  Texts expected;
  for (std::size_t i = 0; i < 3000; ++i) {
    expected.emplace_back(i % 700, static_cast<char>('a' + i % 26));
    text += expected.back() + '\n';
  }
  ASSERT_GT(text.size(), std::size_t{3} << 18);
  EXPECT_EQ(read_lines(text).lines, expected);
}

TEST(Lines, AreRefusedByNumberWhenLongerThan64KiB) {
  const std::string longest(kMaxLine, 'x');
  EXPECT_EQ(read_lines(longest).lines, Texts{longest});
  EXPECT_EQ(read_lines(longest + "\r\nb").lines, (Texts{longest, "b"}));
  for (const char* rest : {"x", "x\n", "\r\r\n", "xxx\nb\n"}) {
    const Read read = read_lines("a\nb\n" + longest + rest);
    EXPECT_EQ(read.lines, (Texts{"a", "b"}));
    EXPECT_TRUE(contains(read.trouble, "standard input: line 3: longer than 64 KiB"))
        << read.trouble;
  }
  const Read endless = read_lines("a\n" + std::string(10 * kMaxLine, 'x'));
  EXPECT_TRUE(contains(endless.trouble, "line 2:")) << endless.trouble;
}

TEST(Lines, AreCountedAsTheyAreRead) {
  const TemporaryDirectory directory;
  const Streams streams;
  Progress progress(streams);
  for (const std::string text : {"", "a", "a\n", "a\nb", "\n\n\n", "a\r\n\r\nb\r\n"}) {
    write_file(directory / "lines", text);
    auto input = InputFile::open(directory / "lines", streams);
    EXPECT_EQ(*count_lines(*input, progress), read_lines(text).lines.size()) << text;
  }
}

}  // namespace
}  // namespace proxy::command

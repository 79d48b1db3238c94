#include "proxy/lists/read.hpp"

#include <sys/stat.h>

#include "tests/proxy/lists/lists.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::lists {
namespace {

class ReadLists : public testing::Test {
 protected:
  std::string file(std::string_view name, std::string_view text) {
    support::write_file(directory_ / name, text);
    return directory_ / name;
  }
  AccessLists read(const std::vector<std::string>& block,
                   const std::vector<std::string>& allow = {}) {
    auto lists = try_read(block, allow);
    EXPECT_TRUE(lists.has_value());
    return lists ? std::move(*lists) : AccessLists();
  }
  boost::system::result<AccessLists, config::SettingsErrors> try_read(
      const std::vector<std::string>& block, const std::vector<std::string>& allow = {}) {
    config::AccessSettings access;
    access.lists.block = block;
    access.lists.allow = allow;
    return read_lists(access, [this](const Skipped& skipped) { told_.push_back(skipped); });
  }

  support::TemporaryDirectory directory_;
  std::vector<Skipped> told_;
};

TEST_F(ReadLists, PutsAllFilesOfASettingTogether) {
  const auto lists =
      read({file("a", "a.test\n"), file("b", "b.test\nc.test")}, {file("c", "c.test")});
  EXPECT_TRUE(lists.blocks(target_of("http://a.test/")));
  EXPECT_TRUE(lists.blocks(target_of("http://b.test/")));
  EXPECT_FALSE(lists.blocks(target_of("http://c.test/")));
  EXPECT_EQ(lists.block().entries(), 3U);
  EXPECT_EQ(lists.allow().entries(), 1U);
  EXPECT_TRUE(told_.empty());
}

TEST_F(ReadLists, WithoutFilesBlocksNothing) {
  EXPECT_FALSE(read({}).blocks(target_of("http://a.test/")));
  EXPECT_EQ(read({file("empty", "")}).block().entries(), 0U);
}

TEST_F(ReadLists, TakesAMarkAtTheStartAndWindowsLineEnds) {
  const auto lists = read({file("a",
                                "\xEF\xBB\xBF"
                                "a.test\r\nb.test\r\n")});
  EXPECT_TRUE(lists.blocks(target_of("http://a.test/")));
  EXPECT_TRUE(lists.blocks(target_of("http://b.test/")));
  EXPECT_TRUE(told_.empty());
}

TEST_F(ReadLists, CountsWhatIsNothingAndTellsTheFirst) {
  const auto path = file("a", "a.test\n! comment\x1b\n\nb.test\n||c^\nd.test");
  EXPECT_EQ(read({path}).block().entries(), 3U);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].path, path);
  EXPECT_EQ(told_[0].lines, 2U);
  EXPECT_EQ(told_[0].first, 2U);
  EXPECT_EQ(told_[0].text, "\"! comment?\"");
}

// A line that crosses blocks stays one line; a line without an end does not fill the memory.
TEST_F(ReadLists, CutsLinesRightAtAnyPlace) {
  std::string text;
  for (int i = 0; text.size() < (3U << 20); ++i) text += "host-" + std::to_string(i) + ".test\n";
  const auto hosts = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  text += std::string(5U << 20, 'x') + "\nlast.test\n" + std::string(3U << 20, 'y');
  const auto lists = read({file("a", text)});
  EXPECT_EQ(lists.block().entries(), hosts + 1);
  for (std::size_t i = 0; i < hosts; i += 997) {
    EXPECT_TRUE(lists.blocks(target_of("http://host-" + std::to_string(i) + ".test/"))) << i;
  }
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].lines, 2U);
  EXPECT_EQ(told_[0].first, hosts + 1);
  EXPECT_LT(told_[0].text.size(), 100U);
}

// Its beginning is no entry, even if what stands before it makes the line a little shorter.
TEST_F(ReadLists, TakesNoPartOfALineThatIsTooLong) {
  std::string line =
      "\xEF\xBB\xBF"
      "0.0.0.0";
  while (line.size() < 2 * http::kMaxUrl + 5) line += " host.test";
  const auto lists = read({file("a", line + "\nlast.test\n")});
  EXPECT_EQ(lists.block().entries(), 1U);
  EXPECT_TRUE(lists.blocks(target_of("http://last.test/")));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].first, 1U);
}

TEST_F(ReadLists, NamesEveryFileThatCannotBeRead) {
  const auto absent = (directory_ / "absent").string();
  const auto pipe = (directory_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto lists = try_read({absent, file("a", "a.test"), directory_.path()}, {pipe});
  ASSERT_TRUE(lists.has_error());
  ASSERT_EQ(lists.error().size(), 3U);
  EXPECT_EQ(lists.error()[0].where, absent + " (setting access.block)");
  EXPECT_EQ(lists.error()[0].what, "cannot be read: No such file or directory");
  EXPECT_EQ(lists.error()[1].what, "cannot be read: it is not a regular file");
  EXPECT_EQ(lists.error()[2].where, pipe + " (setting access.allow)");
}

}  // namespace
}  // namespace proxy::lists

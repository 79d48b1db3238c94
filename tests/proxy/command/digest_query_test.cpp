#include "proxy/command/digest.hpp"

#include "tests/proxy/command/digest_invocation.hpp"

namespace proxy::command {
namespace {

const std::string kIn = "http://example.com/in";
const std::string kOut = "http://example.com/out";

class Query : public ::testing::Test {
 protected:
  Query() { run_digest({"build", "--fpr", "1e-6", "-o", path_}, kIn + '\n'); }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_ / "f";
};

TEST_F(Query, AnswersAsGrepDoes) {
  const Said member = run_digest({"query", path_, kIn});
  EXPECT_EQ(member.code, 0);
  EXPECT_EQ(member.out, kIn + '\n');
  const Said other = run_digest({"query", path_, kOut});
  EXPECT_EQ(other.code, 1);
  EXPECT_EQ(other.out, "");
  EXPECT_EQ(run_digest({"query", path_, "example"}).code, 2);
  EXPECT_EQ(run_digest({"query", directory_ / "absent", kIn}).code, 2);
  EXPECT_EQ(run_digest({"query", path_, kOut, kIn, kOut}).code, 0);
  EXPECT_EQ(run_digest({"query", path_}, "").code, 1);
}

TEST_F(Query, MarksEveryUrlIfAskedTo) {
  const std::string expected = "no\t" + kOut + "\nyes\t" + kIn + '\n';
  EXPECT_EQ(run_digest({"query", "--all", path_, kOut, kIn}).out, expected);
  EXPECT_EQ(run_digest({"query", "--all", path_, kOut, "-"}, kIn + "\r\n\n").out, expected);
}

TEST_F(Query, SaysItInJsonLines) {
  const Said said = run_digest({"query", "--json", path_}, kIn + '\n' + kOut + "\xff\n");
  EXPECT_EQ(said.out, R"({"url":"http://example.com/in","member":true})"
                      "\n"
                      R"({"url":"http://example.com/out�","member":false})"
                      "\n");
}

TEST_F(Query, GivesWhatItFoundBeforeTheTrouble) {
  const Said said = run_digest({"query", path_}, kIn + "\nexample\n");
  EXPECT_EQ(said.code, 2);
  EXPECT_EQ(said.out, kIn + '\n');
  EXPECT_TRUE(contains(said.err, "line 2")) << said.err;
}

}  // namespace
}  // namespace proxy::command

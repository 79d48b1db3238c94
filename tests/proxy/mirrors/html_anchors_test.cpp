#include "proxy/mirrors/html_anchors.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace proxy::mirrors {
namespace {

struct AnchorCase {
  const char* name;
  std::string html;
  std::optional<std::string> changed;  // nothing: the page cannot be read
};

class HtmlAnchors : public testing::TestWithParam<AnchorCase> {};

// "X", and what the link was, in brackets; "stay" stays.
std::optional<std::string> marked(std::string_view link, std::string_view /*sha256*/) {
  if (link == "stay") return std::nullopt;
  return "X[" + std::string(link) + ']';
}

TEST_P(HtmlAnchors, ChangeAndTheRestStaysByteForByte) {
  auto html = GetParam().html;
  EXPECT_EQ(change_anchors(html, marked), GetParam().changed.has_value());
  EXPECT_EQ(html, GetParam().changed.value_or(GetParam().html));
}

INSTANTIATE_TEST_SUITE_P(
    Table, HtmlAnchors,
    testing::Values(
        AnchorCase{"OfAnIndex",
                   R"(<!DOCTYPE html><A HREF="/a.whl#sha256=1" data-core-metadata="sha256=2" )"
                   R"(data-requires-python="&gt;=3.8">a.whl</A><br/>)",
                   R"(<!DOCTYPE html><A HREF="X[/a.whl#sha256=1]" data-core-metadata="sha256=2" )"
                   R"(data-requires-python="&gt;=3.8">a.whl</A><br/>)"},
        AnchorCase{"InSingleQuotes", "<a href='b'>", "<a href='X[b]'>"},
        AnchorCase{"WithoutQuotes", "<a href=b/c>", "<a href=\"X[b/c]\">"},
        AnchorCase{"WithSpaces", "<a\n\thref = \" b \" >", "<a\n\thref = \"X[b]\" >"},
        AnchorCase{"BehindOtherAttributes", "<a x y=1 z='>' href=\"b\">",
                   "<a x y=1 z='>' href=\"X[b]\">"},
        AnchorCase{"TheFirstOfTwo", "<a href=b href=c>", "<a href=\"X[b]\" href=c>"},
        AnchorCase{"OfReferences", "<a href=\"?a&amp;b=&#43;&#x2B;&quot;\">",
                   "<a href=\"X[?a&amp;b=++&quot;]\">"},
        AnchorCase{"ButNotOfReferencesThatNobodyKnows",
                   "<a href=\"&eacute;\"><a href=\"&#233;#a\">",
                   "<a href=\"&eacute;\"><a href=\"&#233;#a\">"},
        AnchorCase{"ButNotThatStay", "<a href=\"stay\">", "<a href=\"stay\">"},
        AnchorCase{"ButNotOfOthers", "<link href=b><abbr href=c><area href=d>",
                   "<link href=b><abbr href=c><area href=d>"},
        AnchorCase{"ButNotOthers", "<a data-href=b xhref=c>", "<a data-href=b xhref=c>"},
        AnchorCase{"ButNotOfEnds", "</a href=b>", "</a href=b>"},
        AnchorCase{"ButNotInComments", "<!-- <a href=b> --><a href=c>",
                   "<!-- <a href=b> --><a href=\"X[c]\">"},
        AnchorCase{"BehindAnEmptyComment", "<!--><a href=c>", "<!--><a href=\"X[c]\">"},
        AnchorCase{"BehindACommentThatEndsOddly", "<!--x--!><a href=c>",
                   "<!--x--!><a href=\"X[c]\">"},
        AnchorCase{"ButNotInScripts", "<script>'<a href=b>'</scripts></script><a href=c>",
                   "<script>'<a href=b>'</scripts></script><a href=\"X[c]\">"},
        AnchorCase{"ButNotInStyles", "<STYLE><a href=b></style >", "<STYLE><a href=b></style >"},
        AnchorCase{"ButNotInAnOpenScript", "<script><a href=b>", "<script><a href=b>"},
        AnchorCase{"ButNotInAValue", "<p title='<a href=b>'>", "<p title='<a href=b>'>"},
        AnchorCase{"ButNotInInstructions", "<?x <a?><!y><a href=c>",
                   "<?x <a?><!y><a href=\"X[c]\">"},
        AnchorCase{"WithoutTheBase", "<base href=\"/x/\"><a href=b>", "<!----><a href=\"X[b]\">"},
        AnchorCase{"WithoutATagMadeOfABase", "<<base>a href=b>", "<<!---->a href=b>"},
        AnchorCase{"NoneInAText", "1 < 2 <", "1 < 2 <"}, AnchorCase{"NoneInNothing", "", ""},
        AnchorCase{"NotOfACutTag", "<a href=b", std::nullopt},
        AnchorCase{"NotOfACutValue", "<a href=\"b>", std::nullopt},
        AnchorCase{"NotOfACutComment", "<a href=b><!-- x", std::nullopt},
        AnchorCase{"NotOfACutName", "<a href=b><p", std::nullopt}),
    [](const auto& instance) { return std::string(instance.param.name); });

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// In a time that grows with the square of the size, these would take hours.
TEST(HtmlAnchors, AreReadInOneGoHoweverTheyAreWritten) {
  constexpr std::size_t kTimes = 1'000'000;
  for (auto html : {"<a href=\"" + repeated("&#", kTimes) + "\">", repeated("<!--x-->", kTimes)}) {
    const auto before = html;
    EXPECT_TRUE(change_anchors(html, marked));
    EXPECT_EQ(html, before);
  }
}

TEST(HtmlAnchors, StayIfThereAreTooMany) {
  std::string html;
  for (int i = 0; i < 10'000; ++i) html += "<a href=b>";
  const auto before = html;
  EXPECT_FALSE(change_anchors(
      html, [](auto, auto) { return std::optional<std::string>(std::string(500, 'x')); }));
  EXPECT_EQ(html, before);
}

}  // namespace
}  // namespace proxy::mirrors

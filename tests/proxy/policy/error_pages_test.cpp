#include "proxy/policy/error_pages.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_directory.hpp"

namespace proxy::policy {
namespace {

ErrorFacts facts_with(Placeholder what, std::string_view value) {
  ErrorFacts facts;
  facts[static_cast<std::size_t>(what)] = value;
  return facts;
}

TEST(PageTemplate, FillsEachPlaceholderAndEscapesItsValue) {
  const auto page = PageTemplate::parse("<a href=\"{{url}}\">{{ url }}</a> {x} }} {{user}}.");
  ASSERT_TRUE(page);
  EXPECT_EQ(
      page->filled(facts_with(Placeholder::url, "http://a/?<b>&\"'")),
      "<a href=\"http://a/?&lt;b&gt;&amp;&quot;&#39;\">http://a/?&lt;b&gt;&amp;&quot;&#39;</a> "
      "{x} }} .");
}

TEST(PageTemplate, DoesNotFillWhatAValueBringsIn) {
  const auto page = PageTemplate::parse("{{url}}");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->filled(facts_with(Placeholder::url, "{{client}}")), "{{client}}");
}

TEST(PageTemplate, SaysWhatIsNoPageAndInWhichLine) {
  std::string many;
  for (int i = 0; i < 65; ++i) many += "{{url}}\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "is empty"},
      {std::string(PageTemplate::kLargest + 1, 'x'), "is larger than 64 KiB"},
      {"a\n\n{{urll}}", "line 3: \"{{urll}}\" stands for nothing; did you mean \"{{url}}\"?"},
      {"{{zzzzzzzz}}",
       "line 1: \"{{zzzzzzzz}}\" stands for nothing; a page may have {{advice}}, {{client}}, "
       "{{contact}}, {{proxy}}, {{reason}}, {{status}}, {{time}}, {{title}}, {{url}}, {{user}}"},
      {"a\n{{url}", "line 2: \"{{\" is not closed by \"}}\""},
      {many, "line 65: a page may have at most 64 placeholders"},
      {"a\nsch\xF6n", "line 2: is not UTF-8; save the file in that encoding"}};
  for (const auto& [html, fault] : cases) {
    const auto page = PageTemplate::parse(html);
    ASSERT_FALSE(page) << fault;
    EXPECT_EQ(page.error(), fault);
  }
}

TEST(PageTemplate, TakesAllUtf8AndNothingElse) {
  for (const char* good :
       {"\xEF\xBB\xBF"
        "a",
        "\xC3\xB6", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(PageTemplate::parse(good)) << good;
  }
  for (const char* bad : {"\x80", "\xC0\x80", "\xC3", "\xC3(", "\xE0\x9F\x80", "\xED\xA0\x80",
                          "\xF0\x8F\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_FALSE(PageTemplate::parse(bad)) << bad;
  }
}

TEST(ErrorPages, OfASiteStandBeforeItsErrorPageAndThatBeforeOurs) {
  const support::TemporaryDirectory folder;
  support::write_file(folder / "blocked.html", "blocked: {{url}}");
  support::write_file(folder / "logo.svg", "{{left alone}}");
  const auto filled = [&](ErrorPage page) {
    const auto pages = ErrorPages::read(folder.path());
    EXPECT_TRUE(pages);
    return pages ? pages->filled(page, facts_with(Placeholder::url, "u")) : std::string();
  };
  EXPECT_EQ(filled(ErrorPage::blocked), "blocked: u");
  EXPECT_NE(filled(ErrorPage::denied).find("<dd id=\"url\">u</dd>"), std::string::npos);
  support::write_file(folder / "error.html", "other: {{url}}");
  EXPECT_EQ(filled(ErrorPage::blocked), "blocked: u");
  EXPECT_EQ(filled(ErrorPage::denied), "other: u");
}

TEST(ErrorPages, AreEachReadFromTheFileOfTheirName) {
  const support::TemporaryDirectory folder;
  for (std::size_t i = 0; i < kErrorPages; ++i) {
    const auto file = ErrorPages::file_of(static_cast<ErrorPage>(i));
    support::write_file(folder / file, "of " + std::string(file));
  }
  const auto pages = ErrorPages::read(folder.path());
  ASSERT_TRUE(pages);
  EXPECT_EQ(pages->filled(ErrorPage::sign_in, {}), "of sign-in.html");
  EXPECT_EQ(pages->filled(ErrorPage::failed, {}), "of failed.html");
}

TEST(ErrorPages, SayEachFaultOfTheFolderAndOfItsFiles) {
  const support::TemporaryDirectory folder;
  const auto faults_of = [](const std::string& path) {
    const auto pages = ErrorPages::read(path);
    return pages ? config::SettingsErrors() : pages.error();
  };
  const auto at = [&](std::string_view name) {
    return (folder / name).string() + " (setting pages)";
  };
  EXPECT_EQ(
      faults_of(folder / "absent"),
      (config::SettingsErrors{{at("absent"), "cannot be listed: No such file or directory"}}));
  EXPECT_EQ(faults_of(folder.path()),
            (config::SettingsErrors{{folder.path().string() + " (setting pages)",
                                     "has no page, such as blocked.html"}}));
  support::write_file(folder / "blokced.html", "x");
  support::write_file(folder / "failed.html", "\n{{who}}");
  std::filesystem::create_directory(folder / "denied.html");
  const auto faults = faults_of(folder.path());
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[0],
            (config::SettingsError{at("blokced.html"),
                                   "no page has this name; did you mean blocked.html?"}));
  EXPECT_EQ(faults[1], (config::SettingsError{at("denied.html"), "is no regular file"}));
  EXPECT_EQ(faults[2].where, at("failed.html"));
  EXPECT_TRUE(faults[2].what.starts_with("line 2: \"{{who}}\" stands for nothing"));
}

}  // namespace
}  // namespace proxy::policy

#include "proxy/command/command_line.hpp"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <sstream>

namespace proxy::command {
namespace {

bool has(const std::string& page, std::string_view text) {
  return page.find(text) != std::string::npos;
}

TEST(ManualPage, NamesEachCommandAndOptionThatIsNotHidden) {
  CLI::App app("a program");
  auto& serve = *app.add_subcommand("serve", "run the proxy");
  std::string file;
  serve.add_option("--config", file, "the settings");
  auto& cache = *app.add_subcommand("cache", "look into the cache");
  cache.require_subcommand(1);
  auto& drop = *cache.add_subcommand("drop", "remove responses");
  drop.add_option_group("what", "one of these")->add_option("URL", file, "as a client asks");
  app.add_subcommand("secret", "not for people")->group("");
  const auto page = manual_page(app, "Hearsay/1.2");
  EXPECT_TRUE(has(page, ".SS serve\nRun the proxy.\n")) << page;
  EXPECT_TRUE(has(page, ".TP\n.B \\-\\-config TEXT\nThe settings.\n")) << page;
  EXPECT_TRUE(has(page, ".SS cache drop\n")) << page;
  EXPECT_TRUE(has(page, ".TP\n.B URL\nAs a client asks.\n")) << page;
  EXPECT_TRUE(has(page, "Hearsay/1.2")) << page;
  EXPECT_FALSE(has(page, "secret")) << page;
  EXPECT_TRUE(has(page, ".I /run/hearsay/control.sock\n")) << page;
  EXPECT_TRUE(has(page, "3: no proxy\nanswers.\n")) << page;
  EXPECT_TRUE(has(page, ".SH EXAMPLES\n")) << page;
  for (const char* word : {"dashboard", "origins"}) {
    EXPECT_TRUE(has(page, std::string(".TP\n.B hearsay ") + word + '\n')) << word;
  }
  EXPECT_TRUE(has(page, ".SH SEE ALSO\n.BR hearsay.json (5)")) << page;
}

TEST(ManualPage, HasNoCommandOfTroffFromATextOfTheProgram) {
  CLI::App app("a program");
  app.add_subcommand("a", "first\n.so /etc/passwd\n'br\\n")->footer(".begins with a dot");
  const auto page = manual_page(app, "1");
  EXPECT_TRUE(has(page, "First\n\\&.so /etc/passwd\n\\&'br\\en.\n")) << page;
  EXPECT_TRUE(has(page, "\n\\&.begins")) << page;
}

}  // namespace
}  // namespace proxy::command

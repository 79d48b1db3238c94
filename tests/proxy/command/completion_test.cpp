#include "proxy/command/command_line.hpp"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

namespace proxy::command {
namespace {

bool has(const std::string& script, std::string_view text) {
  return script.find(text) != std::string::npos;
}

TEST(Completion, KnowsEachCommandAndOptionThatIsNotHidden) {
  CLI::App app("a program");
  auto& cache = *app.add_subcommand("cache", "look into the cache");
  auto& drop = *cache.add_subcommand("drop", "it's gone; more");
  std::string file;
  drop.add_option_group("what", "one of these")->add_option("--prefix", file, "all below");
  app.add_subcommand("secret", "not for people")->group("");
  const auto bash = completion_script(app, "bash");
  EXPECT_TRUE(has(bash, "    '') words='cache --help' ;;\n")) << bash;
  EXPECT_TRUE(has(bash, "    'cache drop') words=' --help --prefix' ;;\n")) << bash;
  const auto zsh = completion_script(app, "zsh");
  EXPECT_TRUE(zsh.starts_with("#compdef hearsay\n"));
  EXPECT_TRUE(has(zsh, "    'cache') candidates=( 'drop:it`s gone' '--help:")) << zsh;
  const auto fish = completion_script(app, "fish");
  EXPECT_TRUE(has(fish, "-n '__fish_use_subcommand' -a 'cache' -d 'look into the cache'\n"))
      << fish;
  EXPECT_TRUE(has(fish, "-n '__hearsay_at cache drop' -l 'prefix' -d 'all below'\n")) << fish;
  for (const auto* script : {&bash, &zsh, &fish}) EXPECT_FALSE(has(*script, "secret"));
  EXPECT_EQ(completion_script(app, "tcsh"), "");
}

}  // namespace
}  // namespace proxy::command

#include "proxy/command/command_line.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace proxy::command {
namespace {

// A program with two commands, one of which has commands of its own.
class Program : public testing::Test {
 protected:
  Program() {
    add_help(app);
    CLI::App& serve = *app.add_subcommand("serve");
    serve.add_option("-c,--config", config);
    serve.add_flag("--strict", strict);
    CLI::App& cache = *app.add_subcommand("cache");
    CLI::App& drop = *cache.add_subcommand("drop");
    drop.add_option("URL", url);
    drop.add_option_group("what")->add_flag("--all", strict);
    cache.add_subcommand("list");
  }
  std::string told(const Words& words) { return unknown_word(app, words).value_or(""); }

  CLI::App app;
  std::string config, url;
  bool strict = false;
};

TEST_F(Program, NamesTheNearestCommand) {
  EXPECT_EQ(told({"serv"}), "unknown command \"serv\"; did you mean \"serve\"?");
  EXPECT_EQ(told({"cache", "lits"}), "unknown command \"lits\"; did you mean \"list\"?");
  EXPECT_EQ(told({"hlep"}), "unknown command \"hlep\"; did you mean \"help\"?");
  EXPECT_EQ(told({"zzzzzz"}), "unknown command \"zzzzzz\"; `hearsay help` lists the commands");
  EXPECT_EQ(told({"\x1b[31m"}), "unknown command \"?[31m\"; `hearsay help` lists the commands");
}

TEST_F(Program, IsNamedInTheUsageOfEachCommand) {
  app.parse(std::vector<std::string>{"help"});
  EXPECT_NE(app.help().find("Usage: hearsay help [OPTIONS] [COMMAND]"), std::string::npos)
      << app.help();
}

TEST_F(Program, NamesTheNearestOption) {
  EXPECT_EQ(told({"serve", "--confg", "a"}),
            "unknown option \"--confg\"; did you mean \"--config\"?");
  EXPECT_EQ(told({"serve", "--confg=a"}), "unknown option \"--confg\"; did you mean \"--config\"?");
  EXPECT_EQ(told({"cache", "drop", "--al"}), "unknown option \"--al\"; did you mean \"--all\"?");
  EXPECT_EQ(told({"serve", "-x"}), "unknown option \"-x\"");
}

TEST_F(Program, KnowsItsOwnWords) {
  for (const Words& words :
       {Words{}, Words{"serve", "--config", "--strict"}, Words{"serve", "-c", "f", "--strict"},
        Words{"serve", "-cf"}, Words{"serve", "--config=f"}, Words{"serve", "--help"},
        Words{"cache", "drop", "any thing", "--all"}, Words{"cache", "drop", "--", "--x"},
        Words{"cache", "drop", "-"}, Words{"cache", "drop", "-1"}, Words{"-h"}}) {
    EXPECT_EQ(told(words), "");
  }
}

TEST(InOptions, SpellsHelpAndVersion) {
  EXPECT_EQ(in_options({"help"}), Words{"--help"});
  EXPECT_EQ(in_options({"help", "cache", "list"}), (Words{"cache", "list", "--help"}));
  EXPECT_EQ(in_options({"version"}), Words{"--version"});
  EXPECT_EQ(in_options({"serve", "help"}), (Words{"serve", "help"}));
  EXPECT_EQ(in_options({}), Words{});
}

}  // namespace
}  // namespace proxy::command

// The program as a person starts it: arguments, wrong settings, ports that are taken.
#include <gtest/gtest.h>

#include <sys/socket.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

Outcome run_hearsay(const std::vector<std::string>& arguments) {
  Command command{{hearsay_program()}};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  return run_to_end(command);
}

Outcome run_with(std::string_view subcommand, std::string_view settings) {
  const TemporaryDirectory directory;
  write_file(directory / "settings.json", settings);
  return run_hearsay({std::string(subcommand), "--config", directory / "settings.json"});
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Program, TellsItsVersion) {
  for (const char* word : {"--version", "-V", "version"}) {
    const Outcome outcome = run_hearsay({word});
    EXPECT_EQ(outcome.exit_code, 0) << word;
    EXPECT_TRUE(contains(outcome.output, "0.1.0")) << outcome.output;
  }
}

TEST(Program, ExplainsItsArguments) {
  const Outcome outcome = run_hearsay({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* word : {"serve", "check", "--version"}) {
    EXPECT_TRUE(contains(outcome.output, word)) << word;
  }
  EXPECT_EQ(run_hearsay({"help"}).output, outcome.output);
  EXPECT_EQ(run_hearsay({"help", "cache", "list"}).output,
            run_hearsay({"cache", "list", "--help"}).output);
  EXPECT_EQ(run_hearsay({"dance"}).exit_code, 2);
  EXPECT_EQ(run_hearsay({}).exit_code, 2);
}

TEST(Program, NamesTheWordThatWasLikelyMeant) {
  struct Slip {
    std::vector<std::string> words;
    std::string meant;
  };
  for (const Slip& slip :
       {Slip{{"serv"}, "\"serve\""}, Slip{{"check", "--confg", "x"}, "\"--config\""},
        Slip{{"cache", "lst"}, "\"list\""}, Slip{{"help", "chek"}, "\"check\""}}) {
    const Outcome outcome = run_hearsay(slip.words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(contains(outcome.errors, "did you mean " + slip.meant + '?')) << outcome.errors;
  }
}

TEST(Program, ExplainsItsSettings) {
  const Outcome memory = run_hearsay({"help", "settings", "cache.memory"});
  EXPECT_EQ(memory.exit_code, 0);
  EXPECT_TRUE(memory.output.starts_with("cache.memory, such as \"256MiB\"\n")) << memory.output;
  const Outcome unknown = run_hearsay({"help", "settings", "cache.memry"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(contains(unknown.errors, "did you mean \"cache.memory\"?")) << unknown.errors;
}

// Whoever reads the output may have seen enough.
TEST(Program, EndsWhereNobodyReadsItsOutput) {
  const ProxyProcess running;
  const Outcome outcome = run_to_end(
      {{"/bin/sh", "-c", "\"$0\" top --json --url http://" + running.address() + " | head -n 1",
        hearsay_program()}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(lines_of(outcome.output), 1U) << outcome.output;
}

TEST(Program, FindsGoodSettingsGood) {
  const Outcome outcome = run_with("check", R"({"listen": ["127.0.0.1:0"]} // as it should be)");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, "listens on 127.0.0.1:0; ")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "\nOK")) << outcome.output;
}

TEST(Program, WarnsOfWhatThisMachineDoesNotAllow) {
  const TemporaryDirectory directory;
  write_file(directory / "file", "x");
  const json settings{{"listen", {"127.0.0.1:0"}},
                      {"cache", {{"disk", {{"path", directory / "file"}, {"size", "64MiB"}}}}},
                      {"peers", {{{"url", "http://nowhere.invalid:1"}}}}};
  write_file(directory / "settings.json", settings.dump());
  const auto check = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"check", "--config", directory / "settings.json"});
    return run_hearsay(more);
  };
  const Outcome outcome = check({});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(contains(outcome.errors, "file is no directory")) << outcome.errors;
  EXPECT_TRUE(contains(outcome.errors, "nowhere.invalid does not resolve")) << outcome.errors;
  EXPECT_EQ(check({"--strict"}).exit_code, 2);
}

TEST(Program, ChecksTheSettingsOfAProxyThatRuns) {
  const ProxyProcess running;
  const Outcome outcome = run_with("check", json{{"listen", {running.address()}}}.dump());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(contains(outcome.output, "a Hearsay runs at " + running.address())) << outcome.output;
  EXPECT_FALSE(contains(outcome.errors, "listen")) << outcome.errors;
  EXPECT_EQ(running.page("/health").status, 200);
}

// A squid.conf that the system has, and the examples of the unit tests.
TEST(Program, ImportsWhatSquidHas) {
  const TemporaryDirectory directory;
  const Outcome stock = run_hearsay({"import-squid", "/etc/squid/squid.conf"});
  EXPECT_EQ(stock.exit_code, 0) << stock.errors;
  write_file(directory / "stock.json", stock.output);
  const Outcome checked = run_hearsay({"check", "--config", directory / "stock.json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  EXPECT_EQ(run_hearsay({"import-squid", "/nowhere/squid.conf"}).exit_code, 2);
  // Of a campus, a site of CVMFS, a cache of packages, and an accelerator. The file of users is
  // elsewhere here, and this machine has another address.
  for (const std::string name : {"campus", "cvmfs", "packages", "website"}) {
    const Outcome made =
        run_to_end({.arguments = {hearsay_program(), "import-squid", name + ".conf"},
                    .directory = SQUID_CONFIGURATIONS});
    EXPECT_EQ(made.exit_code, 1);
    std::string settings = made.output;
    const std::string users = "/etc/squid/passwd";
    if (const auto at = settings.find(users); at != settings.npos) {
      write_file(directory / "passwd",
                 "anna:$2y$04$PeTXBQHKfskS4CFDHkB0k.GMZRYOxsvloI2xatMlh2arEGGNEfUPa\n");
      settings.replace(at, users.size(), directory / "passwd");
    }
    const std::string address = "10.20.0.5:3128";
    if (const auto at = settings.find(address); at != settings.npos) {
      settings.replace(at, address.size(), "127.0.0.1:0");
    }
    write_file(directory / "made.json", settings);
    const Outcome good = run_hearsay({"check", "--config", directory / "made.json"});
    EXPECT_EQ(good.exit_code, 0) << name << ": " << good.errors;
  }
  write_file(directory / "squid.conf", "http_port 3128\nssl_bump peek all\n");
  const Outcome left = run_hearsay({"import-squid", directory / "squid.conf"});
  EXPECT_EQ(left.exit_code, 1);
  EXPECT_TRUE(contains(left.errors, "squid.conf:2: ssl_bump peek all\n")) << left.errors;
}

TEST(Program, NamesEveryWrongSettingWithItsPlace) {
  const std::string_view settings =
      "{\n"
      "  \"listem\": [],\n"
      "  \"cache\": { \"memory\": \"lots\" },\n"
      "  \"peers\": [ { \"url\": \"ftp://b\" } ]\n"
      "}\n";
  for (const char* subcommand : {"check", "serve"}) {
    const Outcome outcome = run_with(subcommand, settings);
    EXPECT_EQ(outcome.exit_code, 2);
    for (const char* part : {"line 2", "listem", "listen", "line 3", "cache.memory", "lots",
                             "line 4", "peers[0].url"}) {
      EXPECT_TRUE(contains(outcome.errors, part)) << part << " in " << outcome.errors;
    }
  }
}

TEST(Program, SaysInOneLineThatSettingsCannotBeRead) {
  const Outcome outcome = run_hearsay({"serve", "--config", "/nowhere/hearsay.json"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.errors, "/nowhere/hearsay.json"));
  EXPECT_EQ(lines_of(outcome.errors), 1U) << outcome.errors;
}

TEST(Program, SaysInOneLineThatAPortIsInUse) {
  Listener taken;
  const int on = 1;
  ::setsockopt(taken.descriptor(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  const std::string address = "127.0.0.1:" + std::to_string(taken.port());
  const Outcome outcome = run_with("serve", json{{"listen", {address}}}.dump());
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_TRUE(contains(outcome.errors, address)) << outcome.errors;
  EXPECT_EQ(lines_of(outcome.errors), 1U) << outcome.errors;
}

TEST(Program, NeverSharesItsPortWithASecondOfItsKind) {
  const ProxyProcess first;  // listens with SO_REUSEPORT, too
  const Outcome outcome = run_with("serve", json{{"listen", {first.address()}}}.dump());
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_TRUE(contains(outcome.errors, first.address())) << outcome.errors;
}

TEST(Program, ServesWithoutALogAndWritesItOnceItsFolderIsThere) {
  const TemporaryDirectory home;
  const auto log = home / "late/access.log";
  ProxyProcess proxy(json{{"log", {{"access", log.string()}}}});
  EXPECT_TRUE(contains(proxy.process().errors(), "cannot open " + log.native()));
  const auto reasons = json::parse(proxy.page("/health").body).at("reasons");
  EXPECT_EQ(reasons.at(0).at("what"), "log") << reasons;
  std::filesystem::create_directory(home / "late");
  EXPECT_TRUE(await([&] {
    return std::filesystem::exists(log) && contains(read_file(log), "/health");
  })) << proxy.process().errors();
  EXPECT_EQ(json::parse(proxy.page("/health").body).at("status"), "ok");
  EXPECT_TRUE(contains(proxy.process().errors(), "the access log is in order again"));
}

TEST(Program, FindsAPortInUseInItsCheckAndTakesTheFileWithoutAnOption) {
  const Listener taken;
  const TemporaryDirectory directory;
  const std::string address = "127.0.0.1:" + std::to_string(taken.port());
  write_file(directory / "settings.json", json{{"listen", {address}}}.dump());
  const Outcome outcome = run_hearsay({"check", directory / "settings.json"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.errors, "error: listen: " + address)) << outcome.errors;
}

TEST(Program, NamesTheUsualSettingsWhereTheCommandLineNamesNone) {
  if (std::filesystem::exists("/etc/hearsay/hearsay.json")) GTEST_SKIP() << "they are there";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"serve"}, {"check"}, {"cache", "list"}}) {
    const Outcome outcome = run_hearsay(words);
    EXPECT_EQ(outcome.exit_code, 2) << words[0];
    EXPECT_TRUE(contains(outcome.errors, "there is no /etc/hearsay/hearsay.json"))
        << outcome.errors;
    const char* const how = words[0] == "check" ? "`hearsay check FILE`" : "--config FILE";
    EXPECT_TRUE(contains(outcome.errors, how)) << outcome.errors;
  }
}

// A script stands for systemctl, since systemd does not run where tests do.
TEST(Program, ChecksWhatTheServiceMayWrite) {
  const TemporaryDirectory home;
  const auto file = home / "settings.json";
  write_file(home / "systemctl",
             "#!/bin/sh\n[ \"$2\" = hearsay.service ] || exit 0\ncat <<END\n"
             "LoadState=loaded\nProtectSystem=strict\nUser=\n"
             "ExecStart={ path=/usr/bin/hearsay ; argv[]=/usr/bin/hearsay "
             "serve --config " +
                 file.native() + " ; }\nEND\n");
  std::filesystem::permissions(home / "systemctl", std::filesystem::perms::owner_all);
  const auto cache = (home / "cache").string();
  const json disk{{"path", cache}, {"size", "64MiB"}};
  const json settings{{"listen", {"127.0.0.1:0"}},
                      {"user", "root"},
                      {"control", "none"},
                      {"cache", {{"disk", disk}}}};
  write_file(file, settings.dump());
  write_file(home / "other.json", settings.dump());
  const auto check = [&](const std::filesystem::path& of) {
    return run_to_end({{hearsay_program(), "check", of.string()},
                       {"PATH=" + home.path().string() + ":/usr/bin:/bin"}});
  };
  const Outcome own = check(file);
  EXPECT_TRUE(contains(own.errors, "ReadWritePaths=-" + cache)) << own.errors;
  EXPECT_TRUE(contains(own.errors, "hearsay.service.d/paths.conf")) << own.errors;
  const Outcome other = check(home / "other.json");
  EXPECT_FALSE(contains(other.errors, "ReadWritePaths")) << other.errors;
  EXPECT_TRUE(contains(other.output, "ReadWritePaths=-" + cache)) << other.output;
}

TEST(Program, GivesTheJournalPrioritiesAndNoTimes) {
  const TemporaryDirectory home;
  json settings = settings_for_tests(home / "late/access.log");
  settings["user"] = "root";
  write_file(home / "settings.json", settings.dump());
  const std::string script = "JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/2) exec " +
                             hearsay_program() + " serve --config settings.json";
  ChildProcess proxy(Command{{"/bin/sh", "-c", script}, {}, {}, home.path()});
  ASSERT_TRUE(await([&] { return contains(proxy.errors(), "\nlimits: "); })) << proxy.errors();
  EXPECT_TRUE(contains("\n" + proxy.errors(), "\n<3>log.access: cannot open")) << proxy.errors();
  EXPECT_FALSE(contains(proxy.errors(), "[hearsay]")) << proxy.errors();
  write_file(home / "settings.json", "{ \"no\": 1 }");
  const Outcome wrong = run_to_end(Command{{"/bin/sh", "-c", script}, {}, {}, home.path()});
  EXPECT_TRUE(wrong.errors.starts_with("<3>")) << wrong.errors;
}

TEST(Program, ListensOnSeveralSockets) {
  ProxyProcess proxy(json{{"listen", {"127.0.0.1:0", "127.0.0.2:0"}}});
  EXPECT_TRUE(await([&] {
    return contains(proxy.process().output(), "listening on 127.0.0.1:") &&
           contains(proxy.process().output(), "listening on 127.0.0.2:");
  })) << proxy.process().output();
}

TEST(Program, ServesOnAnInheritedSocket) {
  const Listener listener;
  const ProxyProcess proxy(json::object(), listener);
  EXPECT_EQ(proxy.port(), listener.port());
  EXPECT_EQ(proxy.page("/health").status, 200);
}

}  // namespace
}  // namespace scenario

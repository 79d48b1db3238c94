#include <gtest/gtest.h>

#include <cstdlib>

#include "config/load.hpp"
#include "tests/support/temporary_directory.hpp"

namespace config {
namespace {

class Includes : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    support::write_file(folder_ / name, text);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Settings loaded(const std::string& main) {
    write("main.json", main);
    auto settings = load_file(path("main.json"));
    EXPECT_TRUE(settings.has_value())
        << settings.error().at(0).where << settings.error().at(0).what;
    return settings.has_value() ? *settings : Settings{};
  }
  // "WHERE: WHAT" of the only error, without the folder.
  std::string error_of(const std::string& main) {
    write("main.json", main);
    const auto settings = load_file(path("main.json"));
    if (settings.has_value() || settings.error().size() != 1) return "no single error";
    std::string text = settings.error()[0].where + ": " + settings.error()[0].what;
    for (auto at = text.find(path("")); at != text.npos; at = text.find(path(""))) {
      text.erase(at, path("").size());
    }
    return text;
  }

  support::TemporaryDirectory folder_;
};

TEST_F(Includes, MergeObjectsJoinListsOfObjectsAndKeepTheIncludersOtherValues) {
  write("shared/site.json", R"(// of all members
    {"include":["peers.json"],"name":"site","threads":2,"cache":{"memory":"64MiB","offline":true},
     "access":{"connect_ports":[80],"monitor":["loopback"]}})");
  write("shared/peers.json", R"({"peers":[{"url":"http://b:1"},{"url":"http://c:1"}]})");
  write("later.json",
        R"({"threads":3,"rules":[{"name":"r2","host":"b.test","never_store":true}]})");
  const auto settings = loaded(R"({"include":["shared/site.json","later.json"],"name":"a",
    "cache":{"memory":"32MiB"},"access":{"connect_ports":[443]},
    "peers":[{"url":"http://d:1"}],"rules":[{"name":"r1","host":"a.test","never_store":true}]})");
  EXPECT_EQ(settings.process.name, "a");
  EXPECT_EQ(settings.process.threads, 3U) << "a later file counts before an earlier one";
  EXPECT_EQ(settings.cache.memory, mebibytes(32));
  EXPECT_TRUE(settings.cache.offline);
  EXPECT_EQ(settings.access.connect_ports, (std::vector<PortRange>{{443, 443}}));
  EXPECT_EQ(settings.access.monitor, *parse_networks("loopback"));
  std::string peers;
  for (const auto& peer : settings.peers) peers += peer.host;
  EXPECT_EQ(peers, "dbc");
  ASSERT_EQ(settings.rules.size(), 2U);
  EXPECT_EQ(settings.rules[0].name, "r1") << "the first rule that matches decides";
  EXPECT_EQ(settings.process.included,
            (std::vector<std::string>{path("shared/site.json"), path("shared/peers.json"),
                                      path("later.json")}));
}

TEST_F(Includes, AnEmptyListLeavesOutWhatIsIncluded) {
  write("peers.json", R"({"peers":[{"url":"http://b:1"}]})");
  EXPECT_TRUE(loaded(R"({"include":["peers.json"],"peers":[]})").peers.empty());
}

TEST_F(Includes, CountAFileOnceAndTakePathsFromTheEnvironment) {
  ::setenv("HEARSAY_TEST_PART", "peers", 1);
  write("peers.json", R"({"peers":[{"url":"http://b:1"}]})");
  write("site.json", R"({"include":["./peers.json"]})");
  const auto settings = loaded(R"({"include":["${HEARSAY_TEST_PART}.json","site.json",")" +
                               path("peers.json") + "\"]}");
  EXPECT_EQ(settings.peers.size(), 1U);
}

TEST_F(Includes, EachErrorNamesItsFileAndPlace) {
  write("peers.json", "{\n  \"peers\": [{\"url\": 7}]}");
  EXPECT_EQ(error_of(R"({"include":["peers.json"]})").substr(0, 61),
            "peers.json, line 2, column 21, peers[0].url: expected a URL l");
  write("peers.json", "{\"peers\": [}");
  EXPECT_EQ(error_of(R"({"include":["peers.json"]})").substr(0, 31),
            "peers.json, line 1, column 12: ");
  write("peers.json", "[]");
  EXPECT_EQ(error_of(R"({"include":["peers.json"]})"),
            "peers.json, line 1, column 1: expected an object in braces; found a list");
  write("peers.json", R"({"name":"${HEARSAY_TEST_ABSENT}"})");
  EXPECT_EQ(error_of(R"({"include":["peers.json"]})").substr(0, 70),
            "peers.json, line 1, column 9, name: HEARSAY_TEST_ABSENT is not set in ");
  EXPECT_EQ(error_of("{\n\"include\":[\"absent.json\"]}"),
            "main.json, line 2, column 12, include[0]: absent.json cannot be read: No such file or "
            "directory");
  EXPECT_EQ(error_of(R"({"include":"peers.json"})").substr(0, 60),
            "main.json, line 1, column 12, include: expected a list of pa");
  EXPECT_EQ(error_of(R"({"include":[7]})").substr(0, 67),
            "main.json, line 1, column 13, include[0]: expected the path of a fi");
}

TEST_F(Includes, ErrorsOfSeveralFilesComeFileByFile) {
  write("b.json", R"({"zzz":1})");
  write("main.json", "{\n\"include\":[\"b.json\"],\n\"yyy\":1}");
  const auto settings = load_file(path("main.json"));
  ASSERT_TRUE(settings.has_error());
  ASSERT_EQ(settings.error().size(), 2U);
  EXPECT_TRUE(settings.error()[0].where.ends_with("main.json, line 3, column 1, yyy"));
  EXPECT_TRUE(settings.error()[1].where.ends_with("b.json, line 1, column 2, zzz"));
}

TEST_F(Includes, ThatLeadBackOrGoTooDeepAreRefused) {
  write("a.json", R"({"include":["b.json"]})");
  write("b.json", R"({"include":["../)" + folder_.path().filename().string() + R"(/a.json"]})");
  EXPECT_EQ(error_of(R"({"include":["a.json"]})").substr(0, 42),
            "b.json, line 1, column 13, include[0]: ../");
  EXPECT_NE(error_of(R"({"include":["main.json"]})").find("leads back to itself"),
            std::string::npos);
  for (std::size_t i = 1; i <= 8U; ++i) {
    write("d" + std::to_string(i), R"({"include":["d)" + std::to_string(i + 1) + "\"]}");
  }
  EXPECT_EQ(error_of(R"({"include":["d1"]})").substr(0, 50),
            "d7, line 1, column 13, include[0]: is one file too");
  std::string many;
  for (std::size_t i = 0; i < 64U; ++i) {
    write("m" + std::to_string(i), "{}");
    many += (i == 0 ? "\"m" : ",\"m") + std::to_string(i) + '"';
  }
  EXPECT_NE(error_of("{\"include\":[" + many + "]}").find("include[63]: is one file too many"),
            std::string::npos);
}

TEST_F(Includes, AreForFilesAlone) {
  const auto settings = load(R"({"include":["peers.json"]})");
  ASSERT_TRUE(settings.has_error());
  EXPECT_NE(settings.error().at(0).what.find("read from a file"), std::string::npos);
}

}  // namespace
}  // namespace config

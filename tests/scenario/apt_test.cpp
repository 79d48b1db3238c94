// apt downloads packages through two neighbours: the origin sends each file once.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

constexpr int kPackages = 6;

void expect_success(const Command& command) {
  const Outcome outcome = run_to_end(command, std::chrono::seconds(60));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output << outcome.errors;
}

std::string name_of(int number) {
  return "hearsay-sample-" + std::to_string(number);
}

// The files of a flat repository whose packages have a few MB each.
struct Repository {
  Repository() {
    for (int i = 0; i < kPackages; ++i) build(i);
    Command scan{{"/usr/bin/dpkg-scanpackages", "--multiversion", "."}};
    scan.directory = files.path();
    const Outcome index = run_to_end(scan, std::chrono::seconds(60));
    EXPECT_EQ(index.exit_code, 0) << index.errors;
    write_file(files / "Packages", index.output);
    std::filesystem::remove_all(files / "build");
  }

  void build(int number) {
    const auto root = files.path() / "build" / name_of(number);
    std::filesystem::create_directories(root / "DEBIAN");
    write_file(root / "DEBIAN/control", "Package: " + name_of(number) +
                                            "\nVersion: 1.0\nArchitecture: all\n"
                                            "Maintainer: Nobody <nobody@example.org>\n"
                                            "Description: bytes to be carried\n");
    write_file(root / "payload", numbered_bytes(4U << 20));
    const auto package = files / (name_of(number) + "_1.0_all.deb");
    expect_success(
        {{"/usr/bin/dpkg-deb", "--build", "-Znone", "--root-owner-group", root, package}});
  }

  TemporaryDirectory files;
};

// apt with a state directory of its own, so that the machine's stays unchanged.
class Apt {
 public:
  Apt(const std::string& source, const std::string& proxy) {
    for (const char* part : {"lists/partial", "cache/archives/partial", "downloads", "etc"}) {
      std::filesystem::create_directories(state_ / part);
    }
    write_file(state_ / "sources.list", "deb [trusted=yes] " + source + " ./\n");
    write_file(state_ / "status", "");
    settings_ = {"-o", "Dir::Etc::SourceList=" + (state_ / "sources.list").string(),
                 "-o", "Dir::Etc::SourceParts=-",
                 "-o", "Dir::Etc::Main=-",
                 "-o", "Dir::Etc::Parts=-",
                 "-o", "Dir::State=" + state_.path().string(),
                 "-o", "Dir::State::Lists=" + (state_ / "lists").string(),
                 "-o", "Dir::State::Status=" + (state_ / "status").string(),
                 "-o", "Dir::Cache=" + (state_ / "cache").string(),
                 "-o", "APT::Sandbox::User=root",
                 "-o", "Acquire::Languages=none",
                 "-o", "Acquire::http::Proxy=" + proxy};
  }

  std::filesystem::path downloads() const { return state_ / "downloads"; }

  void run(const std::vector<std::string>& words) const {
    Command command{{"/usr/bin/apt-get", "-q"}};
    command.arguments.insert(command.arguments.end(), settings_.begin(), settings_.end());
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.environment = {"http_proxy=", "no_proxy="};
    command.directory = downloads();
    expect_success(command);
  }

 private:
  TemporaryDirectory state_;
  std::vector<std::string> settings_;
};

TEST(Apt, DownloadsThroughTwoNeighboursAndTheOriginSeesEachFileOnce) {
  const Repository repository;
  ScriptedOrigin origin;
  origin.otherwise([&](const Request& request) {
    const auto file = repository.files / request.path.substr(request.path.rfind('/') + 1);
    if (!std::filesystem::is_regular_file(file)) return Reply(404);
    return Reply(200, {{"Last-Modified", "Sat, 01 Jan 2022 00:00:00 GMT"},
                       {"ETag", "\"" + file.filename().string() + "\""},
                       {"Content-Type", "application/octet-stream"}})
        .body(read_file(file));
  });
  const Neighbours neighbours;
  std::vector<std::string> download{"download"};
  for (int i = 0; i < kPackages; ++i) download.push_back(name_of(i));
  const auto fetch_through = [&](const ProxyProcess& proxy) {
    auto apt = std::make_unique<Apt>(origin.url("/debian"), proxy.url());
    apt->run({"update"});
    apt->run(download);
    return apt;
  };
  const auto by_a = fetch_through(neighbours.a);
  ASSERT_TRUE(await([&] { return neighbours.b.digest_peer("a").at("entries") >= kPackages; }));
  const auto by_b = fetch_through(neighbours.b);
  for (int i = 0; i < kPackages; ++i) {
    const std::string file = name_of(i) + "_1.0_all.deb";
    const std::string path = "/debian/./" + file;
    EXPECT_EQ(origin.count(path), 1U);
    const auto came_from_a = [&] {  // an earlier line is about the question that a asked b
      return neighbours.b.logged(origin.url(path)).hierarchy == "CD_SIBLING_HIT";
    };
    EXPECT_TRUE(await(came_from_a)) << path;
    const std::string original = read_file(repository.files / file);
    EXPECT_GT(original.size(), 4U << 20);
    EXPECT_TRUE(read_file(by_a->downloads() / file) == original);
    EXPECT_TRUE(read_file(by_b->downloads() / file) == original);
  }
}

}  // namespace
}  // namespace scenario

// Clients of a hub of models download a repository through two neighbours: the hub sends it once.
#include <filesystem>

#include "tests/interop/four_fetches.hpp"
#include "tests/scenario/mirrors/hub_scene.hpp"

namespace interop {
namespace {

using scenario::kCommit;
using scenario::MirrorClient;

constexpr std::size_t kSize = 6'000'000;
constexpr std::uint64_t kLittle = 20'000;  // listings and small files take less

struct Models : ::testing::Test {
  Models() {
    hub.tree = R"([{"type":"file","oid":"12","size":6000000,"xetHash":"ff","path":"model.bin"},)"
               R"({"type":"file","oid":"9e26","size":2,"path":"config.json"}])";
  }

  FourFetches fetches() {
    return {hub.settings(), {&hub.origin.plain, &hub.storage}, [this] { hub.leave(); }};
  }
  // `lost`: what may be on its way when a connection ends.
  static void expect_one_download(const std::array<Sent, 4>& sent, std::size_t lost = 0) {
    EXPECT_GE(sent[0].bytes, kSize);
    EXPECT_LT(sent[0].bytes, kSize + lost + kLittle);
    EXPECT_EQ(sent[1].bytes, 0U);
    EXPECT_LT(sent[2].bytes, kLittle);
    EXPECT_EQ(sent[3], Sent());
  }

  const std::string model = noise(kSize, 1);
  scenario::Hub hub{model};
};

TEST_F(Models, AreDownloadedByTheHubsOwnClient) {
  if (!std::filesystem::exists(HEARSAY_NODE_MODULES "/@huggingface/hub"))
    GTEST_SKIP() << "tests/browser/install.sh could not install the client";
  auto four = fetches();
  const auto content = scenario::sha256_of(model + "{}") + '\n';
  expect_one_download(four.run("@huggingface/hub", content, [&](const Place& place) {
    return run_client({{"/usr/bin/node", HEARSAY_HUB_CLIENT, HEARSAY_NODE_MODULES,
                        place.proxy.url() + "/hf", kCommit}})
        .output;
  }));
}

// What the Python library sends: the names and the size of a file by HEAD, then the file, of which
// the connection breaks, then the rest.
TEST_F(Models, AreResumedAsByThePythonLibrary) {
  auto four = fetches();
  const std::string path = "/hf/o/r/resolve/" + kCommit + "/model.bin";
  const Fields identity{{"Accept-Encoding", "identity"}};
  expect_one_download(
      four.run("HEAD, GET and resume", scenario::sha256_of(model),
               [&](const Place& place) {
                 MirrorClient client(place.proxy);
                 const auto head = client.request("HEAD", path, identity);
                 EXPECT_EQ(head.field("X-Repo-Commit"), kCommit);
                 EXPECT_EQ(head.field("ETag"), '"' + scenario::sha256_of(model) + '"');
                 EXPECT_EQ(head.field("Content-Length"), std::to_string(kSize));
                 client.client.send(origin_form_text(client.host, "GET", path, identity));
                 client.client.read_head();
                 auto file = client.client.read_body(kSize * 6 / 10);
                 client.client.leave();
                 auto rest = identity;
                 rest.emplace_back("Range", "bytes=" + std::to_string(file.size()) + '-');
                 const auto resumed = MirrorClient(place.proxy).get(path, rest);
                 EXPECT_EQ(resumed.status, 206);
                 return scenario::sha256_of(file + resumed.body);
               }),
      kSize * 4 / 10);
}

// From version 1.22 on: what the revision names, the listing, and each file without HEAD.
TEST_F(Models, AreListedAndDownloadedAsByTheNewPythonLibrary) {
  auto four = fetches();
  const auto content = scenario::sha256_of(model + "{}");
  expect_one_download(four.run("listing, then GET", content, [&](const Place& place) {
    MirrorClient client(place.proxy);
    const auto listed = client.get("/hf/api/models/o/r/tree/" + kCommit + "?recursive=True",
                                   {{"Accept-Encoding", "gzip, deflate"}});
    std::string files;
    for (const auto& file : json::parse(listed.body)) {
      EXPECT_FALSE(file.contains("xetHash"));
      const auto path = file.at("path").get<std::string>();
      files += client.get("/hf/o/r/resolve/" + kCommit + '/' + path).body;
    }
    return scenario::sha256_of(files);
  }));
}

}  // namespace
}  // namespace interop

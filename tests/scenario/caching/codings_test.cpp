// Bytes of two codings are never joined, though the origin gives all codings of a resource the same
// strong entity tag.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

struct Where {
  const char* name;
  bool disk;
  bool reverse;
};

constexpr std::size_t kLarge = 12'000'000;  // kept in blocks

const Fields kTakesGzip{{"Accept-Encoding", "gzip, br"}};

// The gzip form is chunked, and so tells no length; the form without a coding is sized. Neither
// needs to be what it says, since no cache decodes it.
struct CodedResource {
  explicit CodedResource(std::size_t bytes) : size(bytes) {}

  static Reply described(Reply reply) {
    return reply.with("Cache-Control", "max-age=600")
        .with("Content-Type", "text/plain")
        .with("ETag", "\"v1\"");
  }
  Reply coded() const { return described(Reply(200)).with("Content-Encoding", "gzip").chunked(); }
  Reply coded_whole() const { return coded().send(gzip); }
  Reply coded_until(std::size_t bytes) const { return coded().send(gzip.substr(0, bytes)); }
  Reply plain_whole() const { return described(Reply(200)).body(plain); }
  Reply part_of(const std::string& all, const Request& request) const {
    const std::string range = request.field("Range");
    const auto dash = range.find('-');
    const auto first = std::stoul(range.substr(6, dash - 6));
    const auto end = range.substr(dash + 1);
    const auto last = end.empty() ? all.size() - 1 : std::min(std::stoul(end), all.size() - 1);
    if (first >= all.size()) return Reply(416);
    const std::string text = "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/' +
                             std::to_string(all.size());
    return described(Reply(206, {{"Content-Range", text}}))
        .body(all.substr(first, last - first + 1));
  }
  // An origin that codes wholes, but no parts.
  Reply codes_wholes(const Request& request) const {
    if (request.has("Range")) return part_of(plain, request);
    return contains(request.field("Accept-Encoding"), "gzip") ? coded_whole() : plain_whole();
  }

  const std::size_t size;
  const std::string gzip = numbered_bytes(size);
  const std::string plain = std::string(size, 'p') + numbered_bytes(2 * size);
};

class Codings : public testing::TestWithParam<std::tuple<Where, std::size_t>> {
 protected:
  Codings() {
    origin.on("/a", [this](const Request& request) { return answer(request); });
  }

  void begin(json settings = json::object()) {
    if (where.disk) settings["cache"]["disk"] = {{"path", home / "c"}, {"size", "64MiB"}};
    if (where.reverse) {
      settings["reverse"] = {{{"host", "www.example.com"},
                              {"to", "http://127.0.0.1:" + std::to_string(origin.port())},
                              {"share", true}}};
    }
    proxy = std::make_unique<ProxyProcess>(settings);
  }
  void begin_beside_neighbour() {
    peer.on(kDigestPath, digest_reply(digest_claiming({url()})));
    begin(with_peer("b", peer.port()));
    ASSERT_TRUE(await([&] { return proxy->digest_peer("b").at("state") == "usable"; }));
  }

  std::string url() const { return where.reverse ? "http://www.example.com/a" : origin.url("/a"); }
  std::string request_for(const Fields& fields) const {
    return where.reverse ? origin_form_text("www.example.com", "GET", "/a", fields)
                         : request_text("GET", url(), fields);
  }
  Response get(const Fields& fields) const {
    Client client(proxy->port());
    client.send(request_for(fields));
    return client.read();
  }
  // The client leaves in the middle of the body. The proxy notices at the second write after that.
  void leave_in_the_middle() {
    const auto half = resource.size / 2;
    Gate left, noticed, never;
    first_answer = resource.coded_until(half)
                       .wait(left)
                       .send(resource.gzip.substr(half, 1000))
                       .wait(noticed)
                       .send(resource.gzip.substr(half + 1000, 1000))
                       .wait(never);
    std::optional<Client> client(std::in_place, proxy->port());
    client->send(request_for(kTakesGzip));
    client->read_head();
    EXPECT_TRUE(client->read_body(half) == resource.gzip.substr(0, half));
    client.reset();
    left.open();
    EXPECT_TRUE(await([&] {
      return proxy->metric("hearsay_body_bytes_total{source=\"origin\"}") >=
             static_cast<double>(half + 1000);
    }));
    noticed.open();
    proxy->logged(url());
  }
  // The origin cuts the body.
  void cut_in_the_middle() {
    first_answer = resource.coded_until(resource.size / 2).cut();
    const Response cut = get(kTakesGzip);
    EXPECT_FALSE(cut.whole);
    EXPECT_TRUE(cut.body == resource.gzip.substr(0, cut.body.size()));
  }
  Reply answer(const Request& request) {
    if (first_answer) return *std::exchange(first_answer, std::nullopt);
    return then(request);
  }

  void expect_coded(const Response& response) const {
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.whole);
    EXPECT_EQ(response.field("Content-Encoding"), "gzip");
    EXPECT_TRUE(response.body == resource.gzip) << response.body.size();
  }
  // Memory alone has no room for the large one.
  void expect_hit() const {
    const Response hit = get(kTakesGzip);
    expect_coded(hit);
    EXPECT_EQ(is_hit(hit), where.disk || resource.size < kLarge) << hit.field("Cache-Status");
  }
  // Whatever was answered, no response has bytes of both forms.
  void expect_unmixed(const Response& response) const {
    const bool coded = response.field("Content-Encoding") == "gzip";
    const std::string& all = coded ? resource.gzip : resource.plain;
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.body == all.substr(0, response.body.size())) << response.body.size();
    if (response.whole) {
      EXPECT_EQ(response.body.size(), all.size());
    }
  }

  const Where where = std::get<0>(GetParam());
  const CodedResource resource{std::get<1>(GetParam())};
  support::TemporaryDirectory home;
  ScriptedOrigin origin;
  ScriptedOrigin peer;
  std::optional<Reply> first_answer;
  std::function<Reply(const Request&)> then = [this](const Request& request) {
    return resource.codes_wholes(request);
  };
  std::unique_ptr<ProxyProcess> proxy;
};

TEST_P(Codings, AreNotMixedInTheRestOfABodyWhoseClientLeft) {
  begin();
  leave_in_the_middle();
  expect_coded(get(kTakesGzip));
  expect_hit();
}

TEST_P(Codings, AreNotMixedInTheRestOfABodyThatTheOriginCut) {
  begin();
  cut_in_the_middle();
  expect_coded(get(kTakesGzip));
  expect_hit();
}

// The rest is asked for in the coding of what came, whatever the next client accepts.
TEST_P(Codings, AreAskedForAsTheyCame) {
  begin();
  cut_in_the_middle();
  then = [this](const Request& request) {
    const bool coded = contains(request.field("Accept-Encoding"), "gzip");
    if (!request.has("Range")) return resource.codes_wholes(request);
    auto part = resource.part_of(coded ? resource.gzip : resource.plain, request);
    return coded ? part.with("Content-Encoding", "gzip") : part;
  };
  expect_coded(get({{"Accept-Encoding", "br"}}));
  const auto rest = origin.requests("/a").back();
  EXPECT_TRUE(rest.has("Range")) << "joined";
  EXPECT_EQ(rest.field("Accept-Encoding"), "gzip");
  EXPECT_EQ(origin.count("/a"), 2U);
}

TEST_P(Codings, AreNotMixedIfTheRestIsCalledTheWhole) {
  begin();
  cut_in_the_middle();
  then = [this](const Request& request) {
    if (!request.has("Range")) return resource.coded_whole();
    const auto first = std::stoul(request.field("Range").substr(6));
    return CodedResource::described(Reply(200))
        .with("Content-Encoding", "gzip")
        .with("Content-Range", "bytes " + std::to_string(first) + "-" +
                                   std::to_string(resource.size - 1) + "/" +
                                   std::to_string(resource.size))
        .body(resource.gzip.substr(first));
  };
  expect_coded(get(kTakesGzip));
  expect_coded(get(kTakesGzip));
}

// A neighbour has what the origin gave, and dies in the middle of it.
TEST_P(Codings, AreNotMixedInTheRestOfABodyThatANeighbourCut) {
  begin_beside_neighbour();
  peer.on("/a", resource.coded_until(resource.size / 2).cut());
  expect_unmixed(get(kTakesGzip));
  expect_unmixed(get(kTakesGzip));
  peer.on("/a", Reply(504));
  expect_coded(get(kTakesGzip));
  expect_coded(get(kTakesGzip));
}

// The neighbour has another form than the one that the origin has begun to send.
TEST_P(Codings, AreNotMixedInTheRestFromANeighbour) {
  begin_beside_neighbour();
  peer.on("/a", [this](const Request& request) {
    return request.has("Range") ? resource.part_of(resource.plain, request) : Reply(504);
  });
  first_answer = resource.coded_until(resource.size / 2).cut();
  expect_unmixed(get(kTakesGzip));
  expect_coded(get(kTakesGzip));
  expect_coded(get(kTakesGzip));
}

std::string name_of(const testing::TestParamInfo<std::tuple<Where, std::size_t>>& tested) {
  const auto& [where, size] = tested.param;
  return where.name + std::string(size == kLarge ? "Large" : "Small");
}

INSTANTIATE_TEST_SUITE_P(Places, Codings,
                         testing::Combine(testing::Values(Where{"Memory", false, false},
                                                          Where{"Disk", true, false},
                                                          Where{"MemoryReverse", false, true},
                                                          Where{"DiskReverse", true, true}),
                                          testing::Values(std::size_t{400'000}, kLarge)),
                         name_of);

}  // namespace
}  // namespace scenario

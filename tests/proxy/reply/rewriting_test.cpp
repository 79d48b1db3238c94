#include "proxy/reply/rewriting.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::reply {
namespace {

const std::array<std::string, 1> kDropped{"xetHash"};
const std::string kJsonHead = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

struct RewritingScene : client::ServeScene {
  // Passes a response through the writer, piece by piece.
  void pass(std::string head, std::vector<std::string> pieces,
            std::optional<std::uint64_t> length) {
    net::spawn(io.get_executor(), write(std::move(head), std::move(pieces), length));
    settle();
  }
  net::Task<void> write(std::string head, std::vector<std::string> pieces,
                        std::optional<std::uint64_t> length) {
    const Rewriting::Order order{{.dropped = kDropped}, none_match, "https://hub.test/api"};
    Rewriting writer(client, order);
    auto error = co_await writer.start(head, 200, length, {});
    for (const auto& piece : pieces) {
      const net::asio::const_buffer bytes(piece.data(), piece.size());
      if (!error) error = co_await writer.body(client::ResponseWriter::BufferList(&bytes, 1));
    }
    if (!error) error = co_await writer.finish();
    failed = !!error;
  }

  std::string none_match;
  bool failed = false;
};

TEST(Rewriting, SendsTheTextWithoutTheMembers) {
  for (const bool is_sized : {true, false}) {
    RewritingScene scene;
    const auto length = is_sized ? std::optional<std::uint64_t>(26) : std::nullopt;
    scene.pass(kJsonHead, {R"({"xetHash":")", R"(ab","a":[1,2]})"}, length);
    EXPECT_EQ(scene.response.content(), R"({"a":[1,2]})");
    EXPECT_EQ(scene.response.length(), 11U);
    EXPECT_TRUE(scene.response.finished());
    EXPECT_EQ(scene.transit.used(), 0U);
  }
}

TEST(Rewriting, PassesWhatIsNoJsonToRewriteAsItIs) {
  const std::string html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
  for (const auto& head : {html, kJsonHead + "Content-Encoding: gzip\r\n", kJsonHead}) {
    RewritingScene scene;
    scene.pass(head, {R"({"xetHash":)", "1"}, std::nullopt);
    EXPECT_EQ(scene.response.content(), R"({"xetHash":1)") << head;
    EXPECT_TRUE(scene.response.finished()) << head;
  }
}

TEST(Rewriting, PassesATextThatIsTooLong) {
  RewritingScene scene;
  const std::string piece(mirrors::kMostRewritten / 2, ' ');
  scene.pass(kJsonHead, {piece, piece, "7"}, std::nullopt);
  EXPECT_EQ(scene.response.content().size(), 2 * piece.size() + 1);
  EXPECT_TRUE(scene.response.finished());
  EXPECT_EQ(scene.transit.used(), 0U);
}

// As it is, it would lead the client past the mirror.
TEST(Rewriting, Says503WhereMemoryIsShort) {
  for (const bool begins_short : {true, false}) {
    RewritingScene scene;
    std::optional<cache::Charge> others;
    if (begins_short) others.emplace(scene.transit, 2 * scene.transit.limit());
    // The text itself makes it short.
    const std::vector<std::string> large(2, std::string(15 << 20, ' '));
    const cache::Charge some(scene.transit, begins_short ? 0 : scene.transit.limit());
    scene.pass(kJsonHead, begins_short ? std::vector<std::string>{"{}"} : large, std::nullopt);
    EXPECT_EQ(scene.response.status(), 503U);
    EXPECT_EQ(scene.response.field("Retry-After"), "5");
    EXPECT_EQ(scene.response.content(), "");
    EXPECT_TRUE(scene.response.finished() && !scene.failed);
    EXPECT_EQ(scene.state.holds, 0U);
  }
}

TEST(Rewriting, AbortsATextThatWasCut) {
  RewritingScene scene;
  scene.pass(kJsonHead, {"{}"}, 3);
  EXPECT_TRUE(scene.response.aborted() && scene.failed);
  EXPECT_EQ(scene.response.status(), 0U);
}

}  // namespace
}  // namespace proxy::reply

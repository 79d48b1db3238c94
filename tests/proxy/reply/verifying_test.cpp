#include "proxy/reply/verifying.hpp"

#include <gtest/gtest.h>

#include "proxy/mirrors/image_name.hpp"
#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::reply {
namespace {

const std::string kHead = "HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\n";

struct VerifyingScene : client::ServeScene {
  // Passes a response through the writer, of which the client expects the digest of `right`.
  void pass(const std::string& right, std::vector<std::string> pieces, bool is_sized,
            unsigned status = 200, std::string head = kHead) {
    net::spawn(io.get_executor(),
               write(right, std::move(pieces), is_sized, status, std::move(head)));
    settle();
  }
  net::Task<void> write(std::string right, std::vector<std::string> pieces, bool is_sized,
                        unsigned status, std::string head) {
    const Verifying::Order order{*mirrors::ContentName::parse(mirrors::image_digest_of(right)),
                                 "http://a.test/x", "http://a.test/x"};
    Verifying writer(client, order);
    std::uint64_t size = 0;
    for (const auto& piece : pieces) size += piece.size();
    const auto length = is_sized ? std::optional(size) : std::nullopt;
    const net::asio::const_buffer first(pieces.front().data(), pieces.front().size());
    const client::ResponseWriter::BufferList with_head(&first, 1);
    auto error = co_await writer.start(head, status, length, with_head);
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      const net::asio::const_buffer bytes(pieces[i].data(), pieces[i].size());
      const client::ResponseWriter::BufferList more(&bytes, 1);
      if (!error) error = co_await writer.body(more);
    }
    if (!error) error = co_await writer.finish();
    failed = !!error;
  }

  bool failed = false;
};

TEST(Verifying, PassesTheBodyThatHasTheDigest) {
  for (const bool is_sized : {true, false}) {
    VerifyingScene scene;
    scene.pass("abcdef", {"ab", "cd", "ef"}, is_sized);
    EXPECT_EQ(scene.response.content(), "abcdef");
    EXPECT_TRUE(scene.response.finished() && !scene.failed);
  }
}

// N2: never a clean end, also of a body whose length nobody knows.
TEST(Verifying, CutsAnyOtherBodyBeforeItsEnd) {
  for (const bool is_sized : {true, false}) {
    VerifyingScene scene;
    scene.pass("abcdef", {"ab", "cd", "eX"}, is_sized);
    EXPECT_EQ(scene.response.content(), is_sized ? "abcd" : "abcdeX");
    EXPECT_TRUE(scene.response.aborted() && scene.failed && !scene.response.finished());
  }
}

TEST(Verifying, SaysThatTheGatewayIsBadIfNothingWasSent) {
  VerifyingScene scene;
  scene.pass("a", {"b"}, true);
  EXPECT_EQ(scene.response.status(), 502U);
  EXPECT_EQ(scene.response.content(), "The body does not have the digest of its URL.\n");
  EXPECT_TRUE(scene.response.finished() && !scene.failed);
}

TEST(Verifying, PassesWhatIsNoWholeBodyOfTheUrl) {
  const std::pair<unsigned, std::string> cases[] = {
      {206, kHead}, {404, kHead}, {200, kHead + "Content-Encoding: gzip\r\n"}};
  for (const auto& [status, head] : cases) {
    VerifyingScene scene;
    scene.pass("a", {"b"}, true, status, head);
    EXPECT_EQ(scene.response.content(), "b") << status << head;
    EXPECT_TRUE(scene.response.finished()) << status << head;
  }
}

}  // namespace
}  // namespace proxy::reply

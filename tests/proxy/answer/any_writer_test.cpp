#include <gtest/gtest.h>

#include "proxy/answer/answer.hpp"
#include "tests/proxy/scene.hpp"

namespace proxy {
namespace {

namespace asio = net::asio;
using support::run;

// A client's side without a stream, as a protocol other than HTTP/1 would have it.
class CollectedResponse final : public ResponseWriter {
 public:
  net::Soon<net::error_code> interim(std::string_view) override { return net::error_code{}; }
  net::Soon<net::error_code> start(std::string_view head, unsigned status,
                                   std::optional<std::uint64_t> length,
                                   std::span<const asio::const_buffer> body) override {
    started_ = true;
    head_ = head;
    head_ += fields_;
    status_ = status;
    length_ = length;
    add(body);
    return net::error_code{};
  }
  net::Soon<net::error_code> body(std::span<const asio::const_buffer> bytes) override {
    add(bytes);
    return net::error_code{};
  }
  net::Soon<net::error_code> finish(std::string_view) override {
    finished_ = true;
    return net::error_code{};
  }
  void abort() override {}
  void close_after() override {}
  std::optional<std::uint64_t> acknowledged() override { return std::nullopt; }

  std::string head_;
  std::string body_;
  unsigned status_ = 0;
  std::optional<std::uint64_t> length_;

 private:
  void add(std::span<const asio::const_buffer> bytes) {
    for (const auto& part : bytes) {
      body_.append(static_cast<const char*>(part.data()), part.size());
    }
  }
};

class NoBody final : public RequestBody {
 public:
  net::Task<net::Result<std::size_t>> read(asio::mutable_buffer,
                                           std::chrono::milliseconds) override {
    co_return std::size_t{0};
  }
  [[nodiscard]] bool finished() const override { return true; }
};

struct WriterScene : Scene {
  CollectedResponse collected;
  Client other{worker.serving, collected, record, *config::parse_address("127.0.0.1"), "127.0.0.1"};

  void answer_to(const std::string& line, const std::string& lines = "") {
    const TextRequest request(lines, line + " HTTP/1.1");
    NoBody none;
    run(worker.io, answer(shared.pages, other, *request.parsed, none));
  }
};

TEST(AnyWriter, GetsAnAnswerWithoutFraming) {
  WriterScene scene;
  scene.answer_to("GET http://127.0.0.1:3128/health");
  EXPECT_TRUE(scene.collected.head_.starts_with("HTTP/1.1 200 OK\r\n")) << scene.collected.head_;
  EXPECT_EQ(scene.collected.head_.find("Content-Length"), std::string::npos);
  EXPECT_EQ(scene.collected.body_, "{\"status\":\"ok\",\"reasons\":[]}\n");
  EXPECT_EQ(scene.collected.length_, scene.collected.body_.size());
  EXPECT_TRUE(scene.collected.finished());
}

TEST(AnyWriter, GetsARefusalOfATunnelThatItCannotOffer) {
  WriterScene scene;
  scene.answer_to("CONNECT a.test:443");
  EXPECT_EQ(scene.collected.status_, 501U);
  EXPECT_TRUE(scene.collected.finished());
}

TEST(AnyWriter, GetsA504ForWhatIsNotStored) {
  WriterScene scene;
  scene.answer_to("GET http://a.test/x", "Cache-Control: only-if-cached\r\n");
  EXPECT_EQ(scene.collected.status_, 504U);
}

}  // namespace
}  // namespace proxy

// The whole request path for one client, with an origin that a test scripts where one is needed.
#pragma once

#include <memory>
#include <string>

#include "proxy/answer/answer.hpp"
#include "proxy/pages/pages_access.hpp"
#include "tests/proxy/client/serve_scene.hpp"
#include "tests/support/await.hpp"
#include "tests/support/scripted_origin.hpp"

namespace proxy::answer {

// A request's body that has arrived as a whole.
class GivenBody final : public client::RequestBody {
 public:
  explicit GivenBody(std::string bytes) : bytes_(std::move(bytes)) {}
  net::Task<net::Result<std::size_t>> read(net::asio::mutable_buffer into,
                                           std::chrono::milliseconds) override {
    const auto size = net::asio::buffer_copy(into, net::asio::buffer(bytes_));
    bytes_.erase(0, size);
    co_return size;
  }
  [[nodiscard]] bool finished() const override { return bytes_.empty(); }

 private:
  std::string bytes_;
};

// Requests may go to origins on loopback.
inline config::Settings open_settings() {
  auto settings = client::quiet_settings();
  settings.access.deny_to = {};
  settings.access.deny_to_self = false;
  return settings;
}

// A further client, for requests that are under way at the same time.
struct Asker {
  Asker(client::ServeScene& scene, const std::string& line, const std::string& lines)
      : request(lines, line + " HTTP/1.1"), client{scene.serving,
                                                   response,
                                                   state,
                                                   record,
                                                   *config::parse_address("127.0.0.1"),
                                                   "127.0.0.1"} {
    response.begin((*request).is_head());
    record.begin(scene.clock.steady());
  }

  const policy::TextRequest request;
  GivenBody body{""};
  client::ResponseState state;
  observe::RequestRecord record;
  client::CollectedResponse response{state, record};
  client::Client client;
  bool done = false;
};

struct AnswerScene : client::ServeScene {
  explicit AnswerScene(config::Settings told = open_settings(), SceneTime time = SceneTime::stands,
                       lists::AccessLists listed = {})
      : client::ServeScene(std::move(told), std::move(listed), time) {}
  ~AnswerScene() { io.end_coroutines(); }

  [[nodiscard]] net::Task<void> answer_to(const policy::TextRequest& request, GivenBody& body) {
    response.begin((*request).is_head());
    record.begin(clock.steady());
    return answer(pages, client, *request.parsed, body);
  }
  // Answers one request. `line`: method and target.
  const client::CollectedResponse& ask(const std::string& line, const std::string& lines = "",
                                       const std::string& content = "") {
    const auto length =
        content.empty() ? "" : "Content-Length: " + std::to_string(content.size()) + "\r\n";
    const policy::TextRequest request(lines + length, line + " HTTP/1.1");
    GivenBody body(content);
    run(answer_to(request, body));
    return response;
  }
  // Begins to answer another client.
  std::unique_ptr<Asker> begin(const std::string& line, const std::string& lines = "") {
    auto asker = std::make_unique<Asker>(*this, line, lines);
    net::spawn(io.get_executor(), answer(pages, asker->client, *asker->request.parsed, asker->body),
               [&done = asker->done](std::exception_ptr) { done = true; });
    settle();
    return asker;
  }
  // Goes on until the condition holds; false if it does not in time.
  template <class Condition>
  bool run_until(Condition condition) {
    return support::await([&] {
      settle();
      return condition();
    });
  }
  [[nodiscard]] std::string cache_status() const { return response.field("Cache-Status"); }

  pages::Visitors visitors;
  pages::Instance instance{.name = name, .listening = listening};
  pages::PagesAccess pages{.tiers = tiers,
                           .transit = transit,
                           .publisher = publisher,
                           .upstream = upstream,
                           .crowd = crowd,
                           .observed = observed,
                           .visitors = visitors,
                           .instance = instance};
};

}  // namespace proxy::answer

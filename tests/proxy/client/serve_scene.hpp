// What one thread needs to answer a client, and the client, without the rooms above `client`.
#pragma once

#include <string>
#include <utility>

#include "proxy/client/client.hpp"
#include "tests/proxy/client/collected_response.hpp"
#include "tests/proxy/thread_scene.hpp"

namespace proxy::client {

struct ServeScene : ThreadScene {
  explicit ServeScene(config::Settings told = quiet_settings(), lists::AccessLists listed = {},
                      SceneTime time = SceneTime::stands)
      : ThreadScene(std::move(told), std::move(listed), time) {
    deadlines.start();
    response.begin();
  }
  ~ServeScene() { io.end_coroutines(); }

  // Lets the coroutines go on for which nothing has to happen any more.
  void settle() {
    io.restart();
    io.poll();
  }

  net::Pipes pipes;
  crowd::Crowd crowd{clock, crowd::descriptor_limits(~std::size_t{0}, 0)};
  crowd::CrowdOfThread crowd_of_thread{crowd,
                                       {.deadlines = deadlines,
                                        .clock = clock,
                                        .policy = policy,
                                        .transit = transit,
                                        .found_no_room = tiers.found_no_room},
                                       outgoing.pool};
  users::PasswordChecks password_checks{clock};
  ServeAccess serving{.fetching = fetching,
                      .policy = policy,
                      .deadlines = deadlines,
                      .buffers = buffers,
                      .pipes = pipes,
                      .crowd = crowd_of_thread,
                      .password_checks = password_checks,
                      .observed = observed};
  ResponseState state;
  observe::RequestRecord record;
  CollectedResponse response{state, record};
  Client client{serving, response, state, record, *config::parse_address("127.0.0.1"), "127.0.0.1"};
};

// A request that the scene's policy applies to.
struct SceneRequest : policy::TextRequest {
  SceneRequest(const ServeScene& scene, const std::string& lines,
               const std::string& line = "GET http://a.test/x HTTP/1.1")
      : policy::TextRequest(lines, line) {
    parsed->pin(scene.policy);
  }
};

}  // namespace proxy::client

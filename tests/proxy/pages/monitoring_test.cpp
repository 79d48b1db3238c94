#include "proxy/pages/own_pages.hpp"

#include <gtest/gtest.h>

#include "proxy/client/arrival.hpp"
#include "tests/proxy/scene.hpp"

namespace proxy::pages {
namespace {

// A request for a page of ours, and all that its answer needs.
struct Served {
  explicit Served(const std::string& target)
      : request(
            policy::parse_request("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:3128\r\n\r\n", {})
                .value()) {
    scene.response.begin({1, false, false});
    request->pin(scene.policy);
    client::record_arrival(scene.client, *request);
  }
  net::Task<void> answer() {
    return serve_own(scene.shared.pages, scene.client, *request, *own_page(scene.client, *request),
                     body);
  }

  Scene scene;
  std::unique_ptr<policy::Request> request;
  server::Http1Body body{scene.input, request->framing};
};

TEST(MonitoringPages, AreNotCountedAsFailuresOfRequestsWhereTheyRefuse) {
  for (const auto* target : {"/hearsay/history?spam", "/health?lax=1", "/admin/explain", "/else"}) {
    Served served(target);
    const auto text = served.scene.received(served.answer());
    EXPECT_EQ(text.substr(9, 1), "4") << target;
    EXPECT_EQ(served.scene.record.tag, observe::Tag::own_page) << target;
  }
}

TEST(MonitoringPages, LeaveLongTextsToAnotherThread) {
  for (const auto* target : {"/metrics", "/hearsay/requests"}) {
    Served served(target);
    auto& io = served.scene.worker.io;
    net::spawn(io.get_executor(), served.answer());
    io.poll();
    EXPECT_EQ(served.scene.record.status, 0U) << target;
    EXPECT_GT(served.scene.aside.poll(), 0U) << target;
    io.poll();
    EXPECT_EQ(served.scene.record.status, 200U) << target;
  }
}

}  // namespace
}  // namespace proxy::pages

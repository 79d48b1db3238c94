// The proxy passes bodies on as they arrive, in both directions, without holding them whole.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

constexpr std::size_t kLarge = 8U << 20;

TEST(Streaming, BringsALargeSizedBodyWhole) {
  Scene scene;
  const std::string body = numbered_bytes(kLarge);
  scene.origin.on("/a", unstorable().body(body));
  const Response response = scene.client.get(scene.origin.url("/a"));
  EXPECT_TRUE(response.whole);
  EXPECT_EQ(response.field("Content-Length"), std::to_string(kLarge));
  EXPECT_TRUE(response.body == body);
}

TEST(Streaming, BringsALargeChunkedBodyWhole) {
  Scene scene;
  const std::string body = numbered_bytes(kLarge);
  Reply reply = unstorable().chunked();
  for (std::size_t at = 0; at < kLarge; at += 100'000) reply.send(body.substr(at, 100'000));
  scene.origin.on("/a", reply);
  const Response response = scene.client.get(scene.origin.url("/a"));
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(response.body == body);
}

TEST(Streaming, TakesALargeSizedUploadWhole) {
  Scene scene;
  const std::string body = numbered_bytes(kLarge);
  scene.origin.on("/a", Reply(201));
  EXPECT_EQ(scene.client.request("PUT", scene.origin.url("/a"), {}, body).status, 201);
  EXPECT_TRUE(scene.origin.requests("/a").at(0).body == body);
}

TEST(Streaming, TakesALargeChunkedUploadWhole) {
  Scene scene;
  const std::string body = numbered_bytes(kLarge);
  scene.origin.on("/a", Reply(201));
  scene.client.send(
      request_text("POST", scene.origin.url("/a"), {{"Transfer-Encoding", "chunked"}}));
  for (std::size_t at = 0; at < kLarge; at += 100'000) {
    scene.client.send(chunk(body.substr(at, 100'000)));
  }
  scene.client.send(kLastChunk);
  EXPECT_EQ(scene.client.read().status, 201);
  EXPECT_TRUE(scene.origin.requests("/a").at(0).whole);
  EXPECT_TRUE(scene.origin.requests("/a").at(0).body == body);
}

TEST(Streaming, DoesNotWaitForTheEndOfAResponse) {
  for (const char* cache_control : {"no-store", "max-age=60"}) {
    Scene scene;
    Gate gate;
    scene.origin.on("/a", Reply(200, {{"Cache-Control", cache_control}})
                              .chunked()
                              .send("first")
                              .wait(gate)
                              .send("second"));
    scene.client.send(request_text("GET", scene.origin.url("/a")));
    Response response = scene.client.read_head();
    EXPECT_EQ(scene.client.read_body(5), "first") << cache_control;
    gate.open();
    scene.client.read_rest(response);
    EXPECT_EQ(response.body, "second");
    EXPECT_TRUE(response.whole);
  }
}

TEST(Streaming, DoesNotWaitForTheFirstByteOfTheBody) {
  Scene scene;
  Gate gate;
  scene.origin.on("/a", Reply().sized(5).start().wait(gate).send("hello"));
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  Response response = scene.client.read_head();
  EXPECT_EQ(response.status, 200);
  gate.open();
  scene.client.read_rest(response);
  EXPECT_EQ(response.body, "hello");
}

TEST(Streaming, DoesNotWaitForTheEndOfAnUpload) {
  Scene scene;
  scene.origin.on("/a", Reply(201));
  scene.client.send(request_text("PUT", scene.origin.url("/a"), {{"Content-Length", "10"}}));
  scene.client.send("first");
  EXPECT_TRUE(await([&] {
    const auto requests = scene.origin.requests("/a");
    return !requests.empty() && requests[0].body == "first";
  }));
  scene.client.send("other");
  EXPECT_EQ(scene.client.read().status, 201);
  EXPECT_EQ(scene.origin.requests("/a").at(0).body, "firstother");
}

TEST(Streaming, HoldsTheOriginBackWhenTheClientDoesNotRead) {
  Scene scene;
  constexpr std::size_t kAll = 128U << 20;
  scene.origin.on("/a", unstorable().body(std::string(kAll, 'x')));
  const auto before = scene.proxy.resident_bytes();
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  scene.client.read_head();
  const auto sent = await_halt([&] { return scene.origin.body_bytes_sent(); });
  EXPECT_LT(sent, 40U << 20);  // the buffers of both sockets and a window of the proxy
  EXPECT_LT(scene.proxy.resident_bytes(), before + (64U << 20));
}

TEST(Streaming, HoldsTheClientBackWhenTheOriginDoesNotRead) {
  Scene scene;
  Listener stalled;  // the kernel accepts connections, and nobody reads
  const std::string url = "http://127.0.0.1:" + std::to_string(stalled.port()) + "/a";
  const auto before = scene.proxy.resident_bytes();
  scene.client.send(request_text("PUT", url, {{"Content-Length", "134217728"}}));
  std::atomic<std::size_t> sent = 0;
  std::jthread sender([&] {
    const std::string piece(1U << 16, 'x');
    while (sent < 134217728 && scene.client.send(piece)) sent += piece.size();
  });
  EXPECT_LT(await_halt([&] { return sent.load(); }), 40U << 20);
  EXPECT_LT(scene.proxy.resident_bytes(), before + (64U << 20));
  scene.client.leave();
}

TEST(Streaming, LeavesMemoryWhereItWas) {
  Scene scene(json{{"cache", {{"memory", "16MiB"}}}});
  const std::string piece = numbered_bytes(1U << 20);
  Reply sized = Reply(200, {{"Cache-Control", "max-age=60"}}).sized(128U << 20);
  Reply chunked = Reply(200, {{"Cache-Control", "max-age=60"}}).chunked();
  for (int i = 0; i < 128; ++i) {
    sized.send(piece);
    chunked.send(piece);
  }
  scene.origin.on("/warm", sized);
  scene.origin.on("/sized", sized);
  scene.origin.on("/chunked", chunked);
  const auto download = [&](const char* path) {
    scene.client.send(request_text("GET", scene.origin.url(path)));
    scene.client.read_head();
    std::size_t count = 0;
    for (std::string part = scene.client.read_body(1U << 20); !part.empty();
         part = scene.client.read_body(1U << 20)) {
      count += part.size();
    }
    return count;
  };
  EXPECT_EQ(download("/warm"), 128U << 20);
  const auto before = scene.proxy.resident_bytes();
  EXPECT_EQ(download("/sized"), 128U << 20);
  EXPECT_EQ(download("/chunked"), 128U << 20);
  EXPECT_LT(scene.proxy.resident_bytes(), before + (16U << 20));
}

TEST(Streaming, PassesOnEarlyHints) {  // RFC 9110 section 15.2
  Scene scene;
  Gate gate;
  scene.origin.on("/a", Reply()
                            .with("Cache-Control", "max-age=60")
                            .interim("HTTP/1.1 103 Early Hints", {{"Link", "</style.css>"}})
                            .wait(gate)
                            .body("hello"));
  scene.client.send(request_text("GET", scene.origin.url("/a")));
  const Response early = scene.client.read_interim();
  EXPECT_EQ(early.status, 103);
  EXPECT_EQ(early.field("Link"), "</style.css>");
  gate.open();
  const Response final = scene.client.read();
  EXPECT_EQ(final.body, "hello");
  EXPECT_FALSE(final.has("Link"));
  // Only final responses are stored (RFC 9111 section 3).
  const Response hit = scene.client.get(scene.origin.url("/a"));
  EXPECT_TRUE(is_hit(hit));
  EXPECT_FALSE(hit.has("Link"));
  EXPECT_TRUE(scene.client.interim().empty());
}

TEST(Streaming, MixesNoTrailersIntoTheHead) {  // RFC 9110 section 6.5.1
  Scene scene;
  scene.origin.on("/a", Reply::raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
                                   "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
                                   "X-Trailer: 1\r\nCache-Control: no-store\r\n\r\n"));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).body, "hello");
  const Response hit = scene.client.get(scene.origin.url("/a"));
  EXPECT_TRUE(is_hit(hit));
  EXPECT_EQ(hit.body, "hello");
  EXPECT_FALSE(hit.has("X-Trailer"));
  EXPECT_EQ(hit.field("Cache-Control"), "max-age=60");
}

TEST(Streaming, AsksForABodyOnlyOnceItIsWanted) {  // RFC 9110 section 10.1.1
  Scene scene;
  scene.origin.on("/a", Reply(201));
  scene.client.send(request_text("PUT", scene.origin.url("/a"),
                                 {{"Content-Length", "4"}, {"Expect", "100-continue"}}));
  EXPECT_EQ(scene.client.read_interim().status, 100);
  scene.client.send("body");
  EXPECT_EQ(scene.client.read().status, 201);
  EXPECT_EQ(scene.origin.requests("/a").at(0).body, "body");
}

TEST(Streaming, SendsTheBodyToAnOriginThatSaysNothingBefore) {  // an origin need not send 100
  Scene scene;
  scene.origin.never_asks("/a", Reply(201));
  for (const std::string framing : {"Content-Length: 4\r\n\r\nbody",
                                    "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"}) {
    scene.client.send("PUT " + scene.origin.url("/a") +
                      " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n" + framing);
    EXPECT_EQ(scene.client.read().status, 201);
    EXPECT_EQ(scene.origin.requests("/a").back().body, "body");
  }
}

TEST(Streaming, ExpectsNothingForAClientOfHttp10) {
  Scene scene;
  scene.origin.never_asks("/a", Reply(201));
  scene.client.send("PUT " + scene.origin.url("/a") +
                    " HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_EQ(scene.client.read().status, 201);
  EXPECT_TRUE(scene.client.interim().empty());
}

TEST(Streaming, PassesOnARefusalInsteadOfContinue) {
  Scene scene;
  scene.origin.on_head("/a", Reply(413, {{"Connection", "close"}}).sized(0).cut());
  scene.client.send(request_text("PUT", scene.origin.url("/a"),
                                 {{"Content-Length", "4"}, {"Expect", "100-continue"}}));
  EXPECT_EQ(scene.client.read().status, 413);
  EXPECT_TRUE(scene.client.interim().empty());
}

TEST(Streaming, PassesOnAnAnswerThatComesBeforeTheUploadsEnd) {
  Scene scene;
  scene.origin.on_head("/a", Reply(401).body("no"));
  scene.client.send(request_text("PUT", scene.origin.url("/a"), {{"Content-Length", "99999999"}}));
  std::jthread sender([&] {
    const std::string piece(1U << 14, 'x');
    while (scene.client.send(piece)) continue;
  });
  EXPECT_EQ(scene.client.read().status, 401);
  EXPECT_FALSE(scene.origin.requests("/a").at(0).whole);
  scene.client.leave();
}

}  // namespace
}  // namespace scenario

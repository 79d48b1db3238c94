// An origin with one resource, and each way in which clients reach it through this program.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/scenario/large/large_scene.hpp"
#include "tests/scenario/peers/parent_scene.hpp"

namespace scenario {

struct Way {
  const char* name;
  bool disk = false;       // the proxy that the client asks has one
  bool reverse = false;    // the proxy stands before the origin
  bool neighbour = false;  // a parent with a disk is between the proxy and the origin
};

inline const auto kAllWays =
    testing::Values(Way{"Memory"}, Way{"Disk", true}, Way{"MemoryReverse", false, true},
                    Way{"DiskReverse", true, true}, Way{"MemoryBehindAParent", false, false, true},
                    Way{"DiskBehindAParent", true, false, true});

// Answers are made by `grants`: whether the origin grants a range; nothing else refuses.
class RangeScene : public testing::TestWithParam<Way> {
 protected:
  explicit RangeScene(std::uint64_t bytes = 815'957) : size(bytes) {
    origin.otherwise([this](const Request& request) { return answer(request); });
    if (way().neighbour) parent_.emplace(with_disk("parent", {{"name", "p"}}));
    json settings = {{"name", "a"}};
    if (way().disk) settings = with_disk("a", settings);
    if (way().neighbour) settings = with_parent("p", parent_->port(), settings);
    const auto to = "http://127.0.0.1:" + std::to_string(origin.port());
    if (way().reverse) settings["reverse"] = {{{"host", "*"}, {"to", to}}};
    proxy_.emplace(settings);
  }
  static const Way& way() { return GetParam(); }
  json with_disk(const char* folder, json settings) const {
    settings["cache"]["disk"] = {{"path", (home_ / folder).string()}, {"size", "512MiB"}};
    return settings;
  }

  Reply described(Reply reply) const {
    return reply.with("ETag", etag).with("Cache-Control", cache_control);
  }
  Reply whole() const { return described(Reply(200)).body(pattern(0, size, version)); }
  Span span_of(const std::string& range) const {
    const auto dash = range.find('-');
    const auto last = range.substr(dash + 1);
    if (dash == 6) return {size - std::stoull(last), size - 1};
    return {std::stoull(range.substr(6, dash - 6)), last.empty() ? size - 1 : std::stoull(last)};
  }
  std::string content_range(const Span& span) const {
    return "bytes " + std::to_string(span.first) + '-' + std::to_string(span.second) + '/' +
           std::to_string(size);
  }
  Reply part(const Span& span, int status = 206) const {
    return described(Reply(status, {{"Content-Range", content_range(span)}}))
        .body(pattern(span.first, span.second - span.first + 1, version));
  }
  Reply answer(const Request& request) const {
    const auto range = request.field("Range");
    const bool same = !request.has("If-Range") || request.field("If-Range") == etag;
    if (contains(request.field("If-None-Match"), etag)) return described(Reply(304));
    if (range.empty() || !same) return whole();
    if (!grants(request)) return refusal;
    return part(span_of(range));
  }

  Response get(const std::string& range = "", Fields fields = {}) {
    if (!range.empty()) fields.emplace_back("Range", "bytes=" + range);
    Client client(proxy_->port());
    client.send(way().reverse ? origin_form_text("a.test", "GET", path, fields)
                              : request_text("GET", origin.url(path), fields));
    return client.read();
  }
  Response get_of_parent() const { return Client(parent_->port()).get(origin.url(path)); }
  void expect_part(const Response& response, const Span& span) const {
    EXPECT_EQ(response.status, 206) << response.field("Cache-Status");
    EXPECT_TRUE(response.whole);
    EXPECT_TRUE(response.body == pattern(span.first, span.second - span.first + 1, version));
    EXPECT_EQ(response.field("Content-Range"), content_range(span));
  }
  void expect_whole(const Response& response) const {
    EXPECT_EQ(response.status, 200) << response.field("Cache-Status");
    EXPECT_TRUE(response.whole && response.body == pattern(0, size, version));
    EXPECT_FALSE(response.has("Content-Range"));
  }
  // The ranges that the origin was asked for, in order; "" for the whole.
  std::vector<std::string> asked() const {
    std::vector<std::string> ranges;
    for (const auto& request : origin.requests(path)) ranges.push_back(request.field("Range"));
    return ranges;
  }

  ScriptedOrigin origin;
  std::uint64_t size;
  std::uint64_t version = 1;
  std::string path = "/a";
  std::string etag = "\"v1\"";
  std::string cache_control = "max-age=3600";
  std::function<bool(const Request&)> grants = [](const Request&) { return true; };
  Reply refusal = Reply(500);

 private:
  TemporaryDirectory home_;
  std::optional<ProxyProcess> parent_;
  std::optional<ProxyProcess> proxy_;
};

}  // namespace scenario

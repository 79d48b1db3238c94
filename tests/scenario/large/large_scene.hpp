// A proxy with a disk before an origin with one large resource, which records the ranges requested.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/scenario/disk/disk_scene.hpp"

namespace scenario {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

inline std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Bytes of a version of the resource. All MiB of all versions differ.
inline std::string pattern(std::uint64_t first, std::uint64_t size, std::uint64_t version = 1) {
  std::string bytes;
  bytes.reserve(size + 16);
  for (auto word = first / 8; bytes.size() < size + first % 8; ++word) {
    std::uint64_t x = (word + 1) * 0x9e3779b97f4a7c15U ^ version * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 30)) * 0x94d049bb133111ebU;
    x ^= x >> 29;
    bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  return bytes.substr(first % 8, size);
}

using Span = std::pair<std::uint64_t, std::uint64_t>;  // first and last byte

struct LargeScene : DiskScene {
  explicit LargeScene(std::uint64_t bytes, const char* memory = "64MiB",
                      const char* disk = "512MiB", const json& more = json::object())
      : DiskScene(
            laid_over(json{{"cache", {{"memory", memory}, {"disk", {{"size", disk}}}}}}, more)),
        size(bytes) {
    origin.on("/a", [this](const Request& request) { return answer(request); });
  }

  static json laid_over(json settings, const json& more) {
    settings.merge_patch(more);
    return settings;
  }

  Reply described(Reply reply) const {
    reply.with("Cache-Control", cache_control).with("Content-Type", "x/y");
    if (!etag.empty()) reply.with("ETag", etag);
    if (knows_ranges) reply.with("Accept-Ranges", "bytes");
    return reply;
  }
  Reply whole() const { return described(Reply(200)).body(pattern(0, size, version)); }
  Reply part(const Span& span) const {
    const auto text = "bytes " + std::to_string(span.first) + '-' + std::to_string(span.second) +
                      '/' + std::to_string(size);
    return described(Reply(206, {{"Content-Range", text}}))
        .body(pattern(span.first, span.second - span.first + 1, version));
  }
  Span span_of(const std::string& range) const {
    const auto dash = range.find('-');
    const auto end = range.substr(dash + 1);
    if (dash == 6) return {size - std::stoull(end), size - 1};
    const auto last = end.empty() ? size - 1 : std::min<std::uint64_t>(std::stoull(end), size - 1);
    return {std::stoull(range.substr(6, dash - 6)), last};
  }
  // Answers single ranges, like "bytes=5-9", "bytes=5-" and "bytes=-5".
  Reply answer(const Request& request) const {
    const std::string range = request.field("Range");
    const bool same = !request.has("If-Range") || request.field("If-Range") == etag;
    if (!etag.empty() && contains(request.field("If-None-Match"), etag)) {
      return described(Reply(304));
    }
    if (range.empty() || !same || !knows_ranges) return whole();
    const auto span = span_of(range);
    if (span.first < size) return part(span);
    return Reply(416, {{"Content-Range", "bytes */" + std::to_string(size)}});
  }

  Response get(const std::string& range = "", Fields fields = {}) {
    if (!range.empty()) fields.emplace_back("Range", "bytes=" + range);
    return DiskScene::get("/a", fields);
  }
  void expect_whole(const Response& response) const {
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.whole && response.body == pattern(0, size, version));
    EXPECT_EQ(response.field("Content-Length"), std::to_string(size));
    EXPECT_EQ(response.field("Content-Type"), "x/y");
  }
  void expect_part(const Response& response, const Span& span) const {
    EXPECT_EQ(response.status, 206);
    EXPECT_TRUE(response.whole);
    const auto bytes = span.second - span.first + 1;
    EXPECT_TRUE(response.body == pattern(span.first, bytes, version));
    EXPECT_EQ(response.field("Content-Range"), "bytes " + std::to_string(span.first) + '-' +
                                                   std::to_string(span.second) + '/' +
                                                   std::to_string(size));
  }
  // The ranges that the origin was asked for, in order; "" for the whole.
  std::vector<std::string> asked() const {
    std::vector<std::string> ranges;
    for (const auto& request : origin.requests("/a")) ranges.push_back(request.field("Range"));
    return ranges;
  }
  // How often the origin was asked for each block.
  std::map<std::uint64_t, int> asked_per_block() const {
    std::map<std::uint64_t, int> times;
    for (const auto& range : asked()) {
      const auto span = span_of(range.empty() ? "bytes=0-" : range);
      for (auto block = span.first / kMiB; block <= span.second / kMiB; ++block) ++times[block];
    }
    return times;
  }

  const std::uint64_t size;
  std::uint64_t version = 1;
  std::string etag = "\"v1\"";
  std::string cache_control = "max-age=3600";
  bool knows_ranges = true;
};

}  // namespace scenario

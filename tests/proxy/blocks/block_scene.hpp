// One object, a scripted origin that has it, and what fetches its blocks, in time that stands,
// without a process around them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/blocks/fetch_run.hpp"
#include "proxy/cache/combine.hpp"
#include "proxy/tiers/object_blocks.hpp"
#include "tests/proxy/sources/search_scene.hpp"
#include "tests/support/run.hpp"
#include "tests/support/scripted_origin.hpp"

namespace proxy::blocks {

inline constexpr std::uint64_t kObjectBytes = 3 * cache::kBlockBytes + 1000;  // four blocks
inline constexpr std::string_view kObjectFields = "ETag: \"v1\"\r\nCache-Control: max-age=60\r\n";

// The bytes of every object. They show a piece that is out of its place.
inline const std::string& object_bytes() {
  static const std::string bytes = [] {
    std::string made(kObjectBytes, ' ');
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<char>('a' + i % 23);
    return made;
  }();
  return bytes;
}

inline std::string_view bytes_in(const http::ByteRange& range) {
  return std::string_view(object_bytes()).substr(range.first, range.size());
}

inline config::Settings settings_for_loopback() {
  config::Settings settings;
  settings.access.deny_to.clear();
  settings.access.deny_to_self = false;
  return settings;
}

// The head of a 206 with the range that was asked for. `fields`: beside Content-Range.
inline support::Reply part_head(const support::Request& asked, support::Fields fields) {
  const auto range = http::only_range(asked.field("Range")).value_or(http::AskedRange{0, {}});
  const auto last = range.last.value_or(kObjectBytes - 1);
  fields.emplace_back("Content-Range", "bytes " + std::to_string(range.first) + "-" +
                                           std::to_string(last) + "/" +
                                           std::to_string(kObjectBytes));
  support::Reply reply(206, std::move(fields));
  return reply.sized(last + 1 - range.first);
}

inline http::ByteRange range_in(const support::Request& asked) {
  const auto range = http::only_range(asked.field("Range")).value();
  return {range.first, range.last.value_or(kObjectBytes - 1)};
}

using Answers = std::vector<support::ScriptedOrigin::Answer>;

// Answers of the origin, each to one request.
namespace answers {

inline support::Fields fields(std::string tag = "\"v1\"", std::string control = "max-age=60") {
  return {{"ETag", std::move(tag)}, {"Cache-Control", std::move(control)}};
}
inline support::ScriptedOrigin::Answer part(support::Fields fields = answers::fields()) {
  return [fields](const support::Request& asked) {
    return part_head(asked, fields).send(std::string(bytes_in(range_in(asked))));
  };
}
// The connection ends after so many bytes of the part.
inline support::ScriptedOrigin::Answer cut_after(std::uint64_t bytes) {
  return [bytes](const support::Request& asked) {
    const auto range = range_in(asked);
    const auto sent = bytes_in({range.first, range.first + bytes - 1});
    return part_head(asked, fields()).send(std::string(sent)).cut();
  };
}
inline support::ScriptedOrigin::Answer whole() {
  return [](const support::Request&) { return support::Reply(200, fields()).body(object_bytes()); };
}
inline support::ScriptedOrigin::Answer status(int status) {
  return [status](const support::Request&) { return support::Reply(status, fields()); };
}
inline support::ScriptedOrigin::Answer hang_up() {
  return [](const support::Request&) { return support::Reply::hang_up(); };
}

}  // namespace answers

struct BlockScene : sources::SearchScene {
  explicit BlockScene(Answers from_origin = {}, std::string_view fields = kObjectFields,
                      std::uint64_t length = kObjectBytes)
      : sources::SearchScene(settings_for_loopback()) {
    const cache::Request asked;
    const cache::Response response{std::string(fields)};
    const cache::Received received{url, asked.head.fields, response.head, times(), "us"};
    object = cache::object_entry(budget, received, {.version = 1}, length);
    if (!cache.store(url_key, object, now())) throw std::runtime_error("no room for the object");
    origin.on("/large", [answers = std::move(from_origin),
                         at = std::make_shared<std::size_t>(0)](const support::Request& asked_for) {
      return *at < answers.size() ? answers[(*at)++](asked_for) : support::Reply(503);
    });
  }
  // Lets the runs end, which refer to this.
  ~BlockScene() { work(std::chrono::milliseconds(30)); }

  [[nodiscard]] cache::Times times() { return {clock.now(), clock.now()}; }
  void work(std::chrono::milliseconds how_long) {
    io.restart();
    io.run_for(how_long);
  }
  // A client's request for the object.
  [[nodiscard]] std::unique_ptr<policy::TextRequest> asks(std::string lines = "",
                                                          const std::string& method = "GET") const {
    auto made =
        std::make_unique<policy::TextRequest>(std::move(lines), method + " " + url + " HTTP/1.1");
    made->parsed->pin(policy);
    return made;
  }
  void store(std::uint32_t number) {
    const auto range = cache::bytes_of_block(number, object->body.size);
    const auto size = static_cast<std::uint32_t>(range.size());
    const auto bytes = cache::Block::make(budget, size);
    bytes_in(range).copy(bytes->data(), size);
    const tiers::NewBlock block{number, {{{bytes, size}}, size}};
    if (cache.store_block(url_key, object, block) != tiers::BlockKept::yes)
      throw std::runtime_error("no room for a block");
  }
  // The numbers of the stored blocks, as "012".
  [[nodiscard]] std::string stored() const {
    std::string numbers;
    for (std::uint32_t number = 0; number < 4; ++number)
      if (cache.has_block(url_key, *object, number)) numbers += std::to_string(number);
    return numbers;
  }
  // The entry that memory has for the URL; null: none.
  [[nodiscard]] cache::Ref<const cache::Entry> entry() const { return ThreadScene::stored(url); }
  // What the origin was asked for, as "0-99; -": a range, or everything.
  [[nodiscard]] std::string questions() const {
    std::string all;
    for (const auto& asked : origin.requests("/large")) {
      if (!all.empty()) all += "; ";
      const auto range = asked.field("Range");
      all += range.empty() ? "all" : range.substr(range.find('=') + 1);
    }
    return all;
  }
  [[nodiscard]] RunJob job_for(const policy::TextRequest& asked, RunPlan plan) {
    return {runs.begin(object, std::move(plan), io.get_executor()), url_key,
            std::make_unique<policy::OwnedRequest>(*asked),
            std::make_shared<tiers::DiskPatience>(now())};
  }

  support::ScriptedOrigin origin;
  const std::string url = origin.url("/large");
  const digest::Key url_key = cache::key_of(url);
  cache::Ref<const cache::Entry> object;
};

}  // namespace proxy::blocks

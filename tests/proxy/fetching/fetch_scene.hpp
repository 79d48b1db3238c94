// What one thread needs to fetch, with an origin that answers as a test scripts it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/fetching/fetching.hpp"
#include "proxy/fetching/from_origin.hpp"
#include "proxy/sources/origin.hpp"
#include "tests/proxy/thread_scene.hpp"
#include "tests/support/scripted_origin.hpp"

namespace proxy::fetching {

using support::Reply;

inline const std::string kStrongTag = "\"v1\"";

// What a client of the fill has seen.
struct Seen {
  std::optional<upstream::Failure> failure = {};
  std::optional<fill::FillHead> head = {};
  std::string body = {};
  std::vector<std::string> interim = {};
  fill::FillEnd end = {};

  // "200 hello", "200 hel cut", "timed_out".
  [[nodiscard]] std::string text() const {
    std::string told;
    if (head) told = std::to_string(head->entry->status) + " " + body;
    if (failure) told.append(head ? " " : "").append(upstream::word(failure->what));
    return told;
  }
  // "stored" or why not, as the client's response and the end of its body tell.
  [[nodiscard]] std::string_view kept() const {
    if (!head) return "nothing";
    const auto& from = head->provenance;
    const bool told = from.storability != cache::Storability::yes;
    return cache::text(told ? from.storability : end.storability);
  }
};

// The origin, on loopback, may be asked.
inline config::Settings settings_to_fetch() {
  auto settings = client::quiet_settings();
  settings.access.deny_to = {};
  settings.access.deny_to_self = false;
  return settings;
}

struct FetchScene : ThreadScene {
  FetchScene() : ThreadScene(settings_to_fetch()) { deadlines.start(); }

  // Makes the origin's host a mirrored one for later requests.
  void mirror() {
    auto settings = settings_to_fetch();
    settings.gateway.mirrors.hosts = {{"127.0.0.1", origin.port()}};
    mirroring = std::make_shared<const policy::Policy>(std::move(settings), lists::AccessLists{});
  }

  [[nodiscard]] std::string url(const std::string& path = "/x") const { return origin.url(path); }
  [[nodiscard]] digest::Key key() const { return cache::key_of(url()); }
  [[nodiscard]] std::unique_ptr<policy::OwnedRequest> request(const std::string& lines = "") const {
    const policy::TextRequest text(lines, "GET " + url() + " HTTP/1.1");
    text.parsed->pin(mirroring ? mirroring : policy);
    return std::make_unique<policy::OwnedRequest>(*text);
  }
  // The job of a request with these lines. The fill is listed.
  FillJob job(const std::string& lines = "") {
    auto entered = fills.enter(key(), url(), {io.get_executor()}, clock.steady());
    const bool part = lines.starts_with("Range:");
    return {.fill = std::move(entered.fill),
            .key = key(),
            .request = request(lines),
            .how = {cache::Action::fetch, http::Forward::uri_miss, part},
            .stored = {},
            .asked = clock.steady()};
  }
  // Stores an entry of the URL, which then counts as found. It is stale from the `age` on.
  cache::Kept stock(const std::string& lines, const std::string& body, unsigned status = 200) {
    return {store_response({.url = url(), .lines = lines, .status = status}, body), {}};
  }
  // A job that revalidates the entry, or completes it.
  FillJob job_for(cache::Kept stored, cache::Action action = cache::Action::revalidate) {
    auto job = this->job();
    job.how = {action, http::Forward::stale};
    job.stored = std::move(stored);
    return job;
  }

  // Runs the job to its end, with a reader who reads all.
  Seen run(FillJob job, std::optional<sources::Attempt> begun = std::nullopt) {
    auto reader = fill::FillReader::attach(job.fill, io.get_executor());
    const auto fill = job.fill;
    start_fetching(fetching, std::move(job), std::move(begun));
    return support::run(io, read(std::move(reader)));
  }
  // Asks the origin the job's question.
  sources::Attempt ask(const FillJob& job) {
    auto attempt = attempt_at_origin(fetching, job.request->get(), {job.how, job.stored.entry},
                                     sources::route_of(job.request->get()));
    (void)support::run(io, attempt.ask());
    return attempt;
  }
  // Whether the fill is over within this time, though nobody reads it.
  bool ends(const std::shared_ptr<fill::Fill>& fill, std::chrono::milliseconds time) {
    io.restart();
    const auto until = std::chrono::steady_clock::now() + time;
    bool is_over = false;
    while (!is_over && std::chrono::steady_clock::now() < until) {
      io.run_for(std::chrono::milliseconds(5));
      io.restart();
      is_over = fill.use_count() == 1;
    }
    return is_over;
  }
  Seen fetch(const std::string& lines = "") { return run(job(lines)); }
  static net::Task<Seen> read(std::unique_ptr<fill::FillReader> reader) {
    Seen seen;
    const auto head = co_await reader->head();
    while (auto interim = reader->news().interim) seen.interim.push_back(*interim);
    if (!head) {
      seen.failure = head.error();
      co_return seen;
    }
    seen.head = **head;
    for (;;) {
      const auto pieces = co_await reader->next();
      if (!pieces) seen.failure = pieces.error();
      if (!pieces || pieces->empty()) break;
      for (const auto& piece : *pieces)
        seen.body.append(piece.block->data() + piece.offset, piece.size);
    }
    seen.end = reader->end();
    co_return seen;
  }
  [[nodiscard]] cache::Ref<const cache::Entry> stored() const { return ThreadScene::stored(url()); }
  [[nodiscard]] std::string stored_text() const {
    const auto entry = stored();
    if (!entry) return "";
    std::string text;
    for (const auto& slice : entry->body.slices) text.append(slice.block->data(), slice.size);
    return text;
  }

  support::ScriptedOrigin origin;
  policy::PinnedPolicy mirroring;
};

}  // namespace proxy::fetching

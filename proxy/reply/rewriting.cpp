#include "proxy/reply/rewriting.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/client/arrival.hpp"
#include "proxy/mirrors/mirrored_url.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/policy/site_rules.hpp"
#include "proxy/reply/own_message.hpp"

namespace proxy::reply {

using net::error_code;
using net::Soon;
using net::Task;
namespace asio = net::asio;

Soon<error_code> Rewriting::start(std::string_view head, unsigned status,
                                  std::optional<std::uint64_t> length, BufferList body) {
  using mirrors::Rewritable;
  const auto rewritable = mirrors::is_rewritable(head, status, order_.change);
  if (rewritable == Rewritable::coded) {
    say_original("is coded");
  }
  const bool is_text = rewritable == Rewritable::json || rewritable == Rewritable::html;
  if (!is_text) return to_.start(head, status, length, body);
  if (state_.head_only) {
    head_ = mirrors::head_of_unseen(head);
    return to_.start(head_, status, std::nullopt, {});
  }
  // An object's answer calls this for all its bytes, since the client's response has not started.
  bytes_ = Bytes::are_kept;
  head_ = head;
  length_ = length;
  return keep(body);
}

Soon<error_code> Rewriting::body(BufferList bytes) {
  if (bytes_ == Bytes::are_kept) return keep(bytes);
  return bytes_ == Bytes::pass ? to_.body(bytes) : Soon<error_code>(error_code{});
}

Soon<error_code> Rewriting::keep(BufferList bytes) {
  const auto needed = text_.size() + asio::buffer_size(bytes);
  const auto whole = std::max<std::uint64_t>(needed, length_.value_or(0));
  if (whole <= mirrors::kMostRewritten && !make_room(needed)) return send_unavailable();
  text_.reserve(needed);
  for (const auto& some : bytes) {
    text_.append(static_cast<const char*>(some.data()), some.size());
  }
  return whole <= mirrors::kMostRewritten ? Soon<error_code>(error_code{}) : pass_kept();
}

// Charges all that there will be of the text, never more than mirrors::kMostRewritten, and what it
// takes to rewrite it. Returns whether there is so much memory.
bool Rewriting::make_room(std::size_t needed) {
  if (holds_ && needed <= text_.capacity()) return true;
  const auto soon = std::min(2 * text_.size(), mirrors::kMostRewritten);
  const auto room = std::max<std::size_t>(needed, length_.value_or(soon));
  holds_.reset();
  holds_.emplace(state_, transit_, mirrors::memory_to_rewrite(room, order_.change));
  if (crowd::pressure_on(transit_) >= crowd::Pressure::critical) return false;
  text_.reserve(room);
  return true;
}

void Rewriting::drop_kept() {
  bytes_ = Bytes::are_dropped;
  holds_.reset();
  text_ = {};
}

Task<error_code> Rewriting::pass_kept() {
  bytes_ = Bytes::pass;
  say_original("is too long to be rewritten");
  const std::array bytes{asio::const_buffer(text_.data(), text_.size())};
  const auto error = co_await to_.start(head_, 200, length_, bytes);
  holds_.reset();
  text_ = {};
  co_return error;
}

void Rewriting::say_original(std::string_view why) {
  spdlog::warn("{} {}, and went to the client as it is", order_.url, why);
  state_.fields = mirrors::fields_of_original(state_.fields);
}

// As it is, the text would lead the client past the mirror.
Task<error_code> Rewriting::send_unavailable() {
  constexpr std::string_view kHead =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nCache-Control: no-store\r\n";
  drop_kept();
  spdlog::warn("{} is not rewritten for want of memory (setting cache.memory)", order_.url);
  co_return co_await to_.start(kHead, 503, 0, {});
}

Soon<error_code> Rewriting::finish() {
  if (bytes_ == Bytes::are_kept) return send_rewritten();
  bytes_ = Bytes::pass;
  return to_.finish();
}

Task<error_code> Rewriting::send_rewritten() {
  if (length_ && text_.size() != *length_) {
    // The client has got nothing of this response, and would take the next one on its connection
    // for it.
    drop_kept();
    to_.abort();
    co_return asio::error::eof;
  }
  bytes_ = Bytes::pass;
  if (auto anew = mirrors::rewrite(head_, text_, order_.change)) {
    head_ = std::move(*anew);
  } else {
    say_original("could not be read to be rewritten");
  }
  error_code error;
  if (const auto unchanged = mirrors::unchanged_head(head_, order_.none_match)) {
    error = co_await to_.start(*unchanged, 304, std::nullopt, {});
  } else {
    const std::array bytes{asio::const_buffer(text_.data(), text_.size())};
    error = co_await to_.start(head_, 200, text_.size(), bytes);
  }
  if (!error) error = co_await to_.finish();
  co_return error;
}

// Nobody calls these: see sends_files().
Soon<error_code> Rewriting::start_file(std::string_view head, unsigned status,
                                       std::uint64_t length) {
  return to_.start_file(head, status, length);
}

Task<net::Result<std::size_t>> Rewriting::body_of_file(net::FilePart part) {
  co_return co_await to_.body_of_file(part);
}

namespace {

void ask_for_whole(policy::Request& request) {
  using http::field;
  constexpr http::FieldSet kOfOtherTexts(field::accept_encoding, field::if_match,
                                         field::if_modified_since, field::if_none_match,
                                         field::if_range, field::if_unmodified_since, field::range);
  auto& fields = request.head.fields;
  auto others = http::without(fields, [&](const auto& line) { return kOfOtherTexts.has(line.id); });
  if (others) fields = std::move(*others);
  fields.append(field::accept_encoding, "Accept-Encoding", "identity");
  auto& facts = request.facts;
  static_cast<cache::RangeFacts&>(facts) = {};
  facts.for_origin = request.framing.has_body() || request.asks_for_websocket();
}

// Nothing: no rule has the text rewritten.
std::optional<mirrors::TextChange> change_for(const client::Client& client,
                                              const policy::Request& request) {
  const auto* const rule = request.rule();
  if (!rule) return std::nullopt;
  const auto& text = rule->text();
  if (text.drop_members.empty() && text.links.empty()) return std::nullopt;
  mirrors::TextChange change{.dropped = text.drop_members, .links = text.links};
  if (!text.links.empty()) {
    const auto& hosts = request.policy().mirrored_hosts;  // which the request keeps
    change.link = mirrors::links_at(*client.state.mirrored, request.target,
                                    [&hosts](const http::Target& url) { return hosts.have(url); });
  }
  return change;
}

// What clients ask for beside a file, by its name with a suffix, has another digest.
bool is_beside_file(std::string_view path) {
  constexpr std::array<std::string_view, 5> kSuffixes{".metadata", ".provenance", ".asc", ".sig",
                                                      ".prov"};
  path = path.substr(0, path.find('?'));
  return std::ranges::any_of(kSuffixes, [path](auto suffix) { return path.ends_with(suffix); });
}

std::optional<mirrors::ContentName> digest_expected(const policy::Request& request) {
  const auto front = mirrors::digest_front(mirrors::path_in(request.head.target));
  if (front.empty() || is_beside_file(request.target.path())) return std::nullopt;
  return mirrors::ContentName::parse(
      std::string(front.substr(1, 6)).append(":").append(front.substr(8)));
}

}  // namespace

MirroredResponse::MirroredResponse(client::Client& client, policy::Request& request) : of_(client) {
  if (request.terms().mirrored == mirrors::Mirrored::no) return;
  client.state.mirrored = client::place_of(request);
  if (auto change = change_for(client, request)) {
    const auto none_match = request.head.fields.value(http::field::if_none_match);
    const Rewriting::Order order{std::move(*change), none_match, policy::url_for_others(request)};
    ask_for_whole(request);
    rewriting_ = std::make_unique<ClientBehind<Rewriting>>(client, order);
  } else if (const auto name = digest_expected(request)) {
    const Verifying::Order order{*name, policy::url_for_others(request), request.stored_as()};
    verifying_ = std::make_unique<ClientBehind<Verifying>>(client, order);
  }
}

bool is_made(const client::Client& client, const policy::Request& request) {
  const auto& place = client.state.mirrored;
  return place && !place->base.empty() && request.rule() && !request.rule()->text().made.empty();
}

net::Task<void> send_made(client::Client& client, const policy::Request& request) {
  constexpr std::string_view kBase = "{base}";
  auto text = request.rule()->text().made;
  const auto& base = client.state.mirrored->base;
  for (auto at = text.find(kBase); at != text.npos; at = text.find(kBase, at + base.size()))
    text.replace(at, kBase.size(), base);
  const auto message = own_message(client, 200, "application/json", std::move(text));
  co_await send_message(client, message);
}

}  // namespace proxy::reply

#include "proxy/reply/rewriting.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/client/arrival.hpp"
#include "proxy/mirrors/rewrite.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/policy/site_rules.hpp"

namespace proxy::reply {

using net::error_code;
using net::Soon;
using net::Task;
namespace asio = net::asio;

Soon<error_code> Rewriting::start(std::string_view head, unsigned status,
                                  std::optional<std::uint64_t> length, BufferList body) {
  const auto rewritable = mirrors::is_rewritable(head, status);
  if (rewritable == mirrors::Rewritable::coded) {
    spdlog::warn("{} is coded, and went to the client as it is", order_.url);
  }
  if (rewritable != mirrors::Rewritable::yes) return to_.start(head, status, length, body);
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

// Charges all that there will be of the text, since it is rewritten in its place: never more than
// mirrors::kMostRewritten. Returns whether there is so much memory.
bool Rewriting::make_room(std::size_t needed) {
  if (holds_ && needed <= text_.capacity()) return true;
  const auto soon = std::min(2 * text_.size(), mirrors::kMostRewritten);
  const auto room = std::max<std::size_t>(needed, length_.value_or(soon));
  holds_.reset();
  holds_.emplace(state_, transit_, room);
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
  spdlog::warn("{} is too long to be rewritten, and went to the client as it is", order_.url);
  const std::array bytes{asio::const_buffer(text_.data(), text_.size())};
  const auto error = co_await to_.start(head_, 200, length_, bytes);
  holds_.reset();
  text_ = {};
  co_return error;
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
  if (auto anew = mirrors::rewrite(head_, text_, order_.members)) {
    head_ = std::move(*anew);
  } else {
    spdlog::warn("{} is no JSON to rewrite, and went to the client as it is", order_.url);
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

}  // namespace

std::unique_ptr<RewritingClient> RewritingClient::of(client::Client& client,
                                                     policy::Request& request) {
  const auto* const rule = request.rule();
  if (!rule || rule->members_to_drop().empty()) return nullptr;
  const Rewriting::Order order{rule->members_to_drop(),
                               request.head.fields.value(http::field::if_none_match),
                               policy::url_for_others(request)};
  ask_for_whole(request);
  return std::make_unique<RewritingClient>(client, order);
}

std::unique_ptr<RewritingClient> begin_mirrored(client::Client& client, policy::Request& request) {
  if (request.terms().mirrored == mirrors::Mirrored::no) return nullptr;
  client.state.mirrored = client::place_of(request);
  return RewritingClient::of(client, request);
}

}  // namespace proxy::reply

#include "proxy/reply/rewriting.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <utility>

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
  if (!mirrors::is_rewritable(head, status)) return to_.start(head, status, length, body);
  if (state_.head_only) {
    head_ = mirrors::head_of_unseen(head);
    return to_.start(head_, status, std::nullopt, {});
  }
  // An object's answer calls this for all its bytes, since the client's response has not started.
  keeps_ = true;
  head_ = head;
  length_ = length;
  if (length && *length <= mirrors::kMostRewritten) text_.reserve(*length);
  return keep(body);
}

Soon<error_code> Rewriting::body(BufferList bytes) {
  return keeps_ ? keep(bytes) : to_.body(bytes);
}

Soon<error_code> Rewriting::keep(BufferList bytes) {
  for (const auto& some : bytes) {
    text_.append(static_cast<const char*>(some.data()), some.size());
  }
  if (!holds_ || state_.holds != text_.capacity()) {
    holds_.reset();
    holds_.emplace(state_, transit_, text_.capacity());
  }
  if (crowd::pressure_on(transit_) >= crowd::Pressure::critical)
    return break_off(asio::error::no_buffer_space);
  const bool is_too_long = text_.size() > mirrors::kMostRewritten;
  if (is_too_long || length_.value_or(0) > mirrors::kMostRewritten) return pass_kept();
  return error_code{};
}

// The client has got nothing of this response, and would take the next one on its connection for
// it.
error_code Rewriting::break_off(error_code why) {
  keeps_ = false;
  holds_.reset();
  text_ = {};
  to_.abort();
  return why;
}

Task<error_code> Rewriting::pass_kept() {
  keeps_ = false;
  spdlog::warn("{} is too long to be rewritten, and went to the client as it is", order_.url);
  const std::array bytes{asio::const_buffer(text_.data(), text_.size())};
  const auto error = co_await to_.start(head_, 200, length_, bytes);
  holds_.reset();
  text_ = {};
  co_return error;
}

Soon<error_code> Rewriting::finish() {
  return std::exchange(keeps_, false) ? Soon<error_code>(send_rewritten()) : to_.finish();
}

Task<error_code> Rewriting::send_rewritten() {
  if (length_ && text_.size() != *length_) co_return break_off(asio::error::eof);
  auto anew = mirrors::rewritten(head_, text_, order_.members);
  if (anew) {
    holds_.reset();
    text_ = std::move(anew->body);
    holds_.emplace(state_, transit_, text_.capacity());
    head_ = std::move(anew->head);
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
                               request.target.url()};
  ask_for_whole(request);
  return std::make_unique<RewritingClient>(client, order);
}

}  // namespace proxy::reply

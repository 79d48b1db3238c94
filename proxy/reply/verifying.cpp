#include "proxy/reply/verifying.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "proxy/http/text.hpp"
#include "proxy/mirrors/linked_file.hpp"

namespace proxy::reply {

using net::error_code;
using net::Soon;
using net::Task;
namespace asio = net::asio;

Soon<error_code> Verifying::start(std::string_view head, unsigned status,
                                  std::optional<std::uint64_t> length, BufferList body) {
  const auto coding = mirrors::value_of_field(head, "Content-Encoding");
  const bool is_plain = coding.empty() || http::same_word(coding, "identity");
  if (status == 200 && is_plain && !client_.state.head_only) {
    check_.emplace(order_.name, length.value_or(0));
    left_ = length;
  }
  if (is_wrong_with(body)) return send_bad_gateway();
  return client_.response.start(head, status, length, body);
}

// The bytes that complete the body are held back until they are judged.
Soon<error_code> Verifying::body(BufferList bytes) {
  if (is_refused_) return error_code{};
  return is_wrong_with(bytes) ? cut() : client_.response.body(bytes);
}

// With a known length, the last bytes have been judged.
Soon<error_code> Verifying::finish() {
  const bool is_judged = is_refused_ || !check_ || left_;
  return is_judged || check_->matches() ? client_.response.finish() : cut();
}

bool Verifying::is_wrong_with(BufferList bytes) {
  if (!check_) return false;
  for (const auto& some : bytes) check_->add({static_cast<const char*>(some.data()), some.size()});
  if (!left_) return false;
  *left_ -= std::min<std::uint64_t>(*left_, asio::buffer_size(bytes));
  return *left_ == 0 && !check_->matches();
}

// A forger may undo only what it has brought about, and not an origin's word: others may read the
// same response, and the next one would be fetched in vain. What was stored before, or what another
// request fetches, stays, too.
Task<void> Verifying::drop_wrong() {
  spdlog::warn("{} does not have the digest {} that its client expects", order_.url,
               order_.name.to_text());
  const auto& told = client_.record.told;
  const bool is_own = told.fwd == http::Forward::uri_miss && !told.hit &&
                      !client_.record.collapsed &&
                      client_.record.hierarchy != observe::Hierarchy::direct;
  if (!is_own) co_return;
  const std::string name(order_.stored_as);
  const auto key = digest::key_of(digest::Method::get, name);
  co_await client_.access.fetching.cached().forget(key, name);
}

Task<error_code> Verifying::cut() {
  co_await drop_wrong();
  client_.response.abort();
  co_return asio::error::eof;
}

Task<error_code> Verifying::send_bad_gateway() {
  constexpr std::string_view kHead =
      "HTTP/1.1 502 Bad Gateway\r\nCache-Control: no-store\r\nContent-Type: text/plain\r\n";
  constexpr std::string_view kText = "The body does not have the digest of its URL.\n";
  co_await drop_wrong();
  is_refused_ = true;
  const asio::const_buffer text(kText.data(), kText.size());
  const BufferList body(&text, 1);
  co_return co_await client_.response.start(kHead, 502, kText.size(), body);
}

Task<net::Result<std::size_t>> Verifying::body_of_file(net::FilePart part) {
  co_return co_await client_.response.body_of_file(part);
}

}  // namespace proxy::reply

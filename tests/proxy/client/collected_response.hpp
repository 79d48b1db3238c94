// A client's side without a stream, as a protocol other than HTTP/1 would have it.
#pragma once

#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/client/response_writer.hpp"
#include "proxy/http/head.hpp"
#include "proxy/net/socket_calls.hpp"
#include "proxy/observe/request_record.hpp"

namespace proxy::client {

// Collects one response after the other. `record` gets the status, and the length of the content.
class CollectedResponse final : public ResponseWriter {
 public:
  CollectedResponse(ResponseState& state, observe::RequestRecord& record)
      : state_(state), record_(record) {}

  void begin(bool head_only = false) {
    state_.begin();
    state_.head_only = head_only;
    head_.clear();
    content_.clear();
    interims_.clear();
    length_.reset();
    status_ = 0;
    aborted_ = closes_ = false;
  }

  // From now on a write fails that would exceed this length of the content.
  void client_leaves_after(std::uint64_t bytes) { most_ = bytes; }
  // Whether bodies may be sent from files and pipes.
  void can_send_files() { sends_files_ = true; }

  net::Soon<net::error_code> interim(std::string_view head) override {
    interims_.emplace_back(head);
    return net::error_code{};
  }
  using ResponseWriter::start;
  net::Soon<net::error_code> start(std::string_view head, unsigned status,
                                   std::optional<std::uint64_t> length, BufferList body) override {
    state_.started = true;
    head_.append(head).append(state_.fields);
    record_.status = status_ = status;
    length_ = length;
    return add(body);
  }
  using ResponseWriter::body;
  net::Soon<net::error_code> body(BufferList bytes) override { return add(bytes); }
  net::Soon<net::error_code> flush() override { return net::error_code{}; }
  [[nodiscard]] bool sends_files() const override { return sends_files_ && !state_.head_only; }
  net::Soon<net::error_code> start_file(std::string_view head, unsigned status,
                                        std::uint64_t length) override {
    return start(head, status, length);
  }
  net::Task<net::Result<std::size_t>> body_of_file(net::FilePart part) override {
    std::string bytes(part.size, '\0');
    const auto offset = static_cast<off_t>(part.offset.value_or(0));
    const auto got = part.offset ? ::pread(part.descriptor, bytes.data(), bytes.size(), offset)
                                 : ::read(part.descriptor, bytes.data(), bytes.size());
    if (got < 0) co_return net::error_code(net::asio::error::connection_reset);
    from_files_ += static_cast<std::size_t>(got);
    const net::asio::const_buffer all(bytes.data(), static_cast<std::size_t>(got));
    const auto error = add({&all, 1}).value();
    if (error) co_return error;
    co_return static_cast<std::size_t>(got);
  }
  net::Soon<net::error_code> finish() override {
    state_.finished = true;
    return net::error_code{};
  }
  void abort() override { aborted_ = true; }
  void close_after() override { closes_ = true; }
  std::optional<std::uint64_t> acknowledged() override { return std::nullopt; }
  std::optional<RawConnection> raw_connection() override { return std::nullopt; }

  [[nodiscard]] unsigned status() const { return status_; }
  [[nodiscard]] const std::string& head() const { return head_; }
  [[nodiscard]] const std::string& content() const { return content_; }
  [[nodiscard]] std::optional<std::uint64_t> length() const { return length_; }
  [[nodiscard]] const std::vector<std::string>& interims() const { return interims_; }
  [[nodiscard]] bool finished() const { return state_.finished; }
  [[nodiscard]] bool aborted() const { return aborted_; }
  [[nodiscard]] bool closes() const { return closes_; }
  [[nodiscard]] std::size_t from_files() const { return from_files_; }
  // The value of the only field of this name; empty if there is none, or there are several.
  [[nodiscard]] std::string field(std::string_view name) const {
    auto text = head_ + "\r\n";
    const auto parsed = http::parse_response_head(text);
    return parsed ? std::string(parsed->fields.only_value(name)) : "malformed";
  }

 private:
  net::error_code add(BufferList bytes) {
    if (status_ == 204 || status_ == 304 || state_.head_only) return {};
    for (const auto& part : bytes) {
      if (content_.size() + part.size() > most_) return net::asio::error::connection_reset;
      content_.append(static_cast<const char*>(part.data()), part.size());
    }
    record_.bytes = content_.size();
    return {};
  }

  ResponseState& state_;
  observe::RequestRecord& record_;
  std::string head_;
  std::string content_;
  std::vector<std::string> interims_;
  std::optional<std::uint64_t> length_;
  std::uint64_t most_ = UINT64_MAX;
  std::size_t from_files_ = 0;
  unsigned status_ = 0;
  bool sends_files_ = false;
  bool aborted_ = false;
  bool closes_ = false;
};

}  // namespace proxy::client

#include "tests/support/message.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <ctime>
#include <stdexcept>

namespace support {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_letter);
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

Field parse_field(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) throw std::runtime_error("no field: " + std::string(line));
  return {std::string(line.substr(0, colon)), trimmed(line.substr(colon + 1))};
}

}  // namespace

bool Head::has(std::string_view name) const {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Field& field) { return same_name(field.first, name); });
}

std::string Head::field(std::string_view name) const {
  std::string joined;
  for (const auto& [candidate, value] : fields) {
    if (same_name(candidate, name)) joined += (joined.empty() ? "" : ", ") + value;
  }
  return joined;
}

bool Incoming::more() {
  const std::string bytes = socket_.read_some();
  buffer_ += bytes;
  return !bytes.empty();
}

std::optional<std::string> Incoming::line() {
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n")) == std::string::npos) {
    if (!more()) return std::nullopt;
  }
  std::string text = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return text;
}

std::optional<Head> Incoming::head() {
  const auto start = line();
  if (!start) return std::nullopt;
  Head head{*start, {}};
  for (auto text = line(); text; text = line()) {
    if (text->empty()) return head;
    head.fields.push_back(parse_field(*text));
  }
  return std::nullopt;
}

void Incoming::begin_body(Framing framing, std::uint64_t size) {
  framing_ = framing;
  left_ = size;
  in_chunk_ = false;
  whole_ = framing == Framing::none || (framing == Framing::sized && size == 0);
}

std::string Incoming::take(std::uint64_t limit) {
  if (buffer_.empty() && !more()) return {};
  std::string piece = buffer_.substr(0, static_cast<std::size_t>(limit));
  buffer_.erase(0, piece.size());
  return piece;
}

// Sets left_ to the next chunk's size; false at the last one or at a cut.
bool Incoming::next_chunk() {
  if (in_chunk_ && !line()) return false;
  const auto size = line();
  if (!size) return false;
  left_ = std::stoull(*size, nullptr, 16);
  in_chunk_ = true;
  if (left_ > 0) return true;
  auto trailer = line();
  while (trailer && !trailer->empty()) trailer = line();
  whole_ = trailer.has_value();
  return false;
}

std::string Incoming::body_piece() {
  if (whole_) return {};
  if (framing_ == Framing::until_close) {
    std::string piece = take(std::string::npos);
    whole_ = piece.empty() && !socket_.was_reset();
    return piece;
  }
  if (framing_ == Framing::chunked && left_ == 0 && !next_chunk()) return {};
  std::string piece = take(left_);
  left_ -= piece.size();
  whole_ = framing_ == Framing::sized && left_ == 0;
  return piece;
}

std::string Incoming::bytes(std::size_t count) {
  while (buffer_.size() < count && more()) {
  }
  return take(count);
}

Framing request_framing(const Head& head) {
  if (contains(head.field("Transfer-Encoding"), "chunked")) return Framing::chunked;
  return head.has("Content-Length") ? Framing::sized : Framing::none;
}

Framing response_framing(const Head& head, int status, std::string_view method) {
  const bool tunnel = method == "CONNECT" && status / 100 == 2;
  if (method == "HEAD" || tunnel || status < 200 || status == 204 || status == 304) {
    return Framing::none;
  }
  const Framing framing = request_framing(head);
  return framing == Framing::none ? Framing::until_close : framing;
}

std::uint64_t content_length(const Head& head) {
  const std::string value = head.field("Content-Length");
  return value.empty() ? 0 : std::stoull(value);
}

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same_letter) !=
             text.end() ||
         part.empty();
}

std::string authority_of(std::string_view url) {
  const auto start = url.find("://") + 3;
  return std::string(url.substr(start, url.find_first_of("/?", start) - start));
}

std::string path_of(std::string_view target) {
  const auto scheme = target.find("://");
  if (scheme == std::string_view::npos) return std::string(target);
  const auto slash = target.find('/', scheme + 3);
  return slash == std::string_view::npos ? "/" : std::string(target.substr(slash));
}

std::string http_date(std::chrono::seconds from_now) {
  const std::time_t time = std::time(nullptr) + from_now.count();
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

std::string head_text(std::string_view start_line, const Fields& fields) {
  std::string text(start_line);
  for (const auto& [name, value] : fields) text += "\r\n" + name + ": " + value;
  return text + "\r\n\r\n";
}

std::string chunk(std::string_view bytes) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + std::string(bytes) + "\r\n";
}

}  // namespace support

#include "tests/support/strict_reading.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace support::strict {
namespace {

struct Malformed {
  std::string why;
};
struct Cut {};

constexpr std::string_view kPunctuation = "!#$%&'*+-.^_`|~";

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           kPunctuation.find(c) != std::string_view::npos;
  });
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_digit);
}

bool is_text(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

// Bytes taken from the front. Throws Cut where bytes are missing, Malformed where they are wrong.
class Source {
 public:
  explicit Source(std::string_view bytes) : left(bytes) {}

  // The text before the next CRLF. Throws Malformed on a control character.
  std::string line() {
    std::string text;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i] == '\r') {
        if (i + 1 == left.size()) throw Cut{};
        if (left[i + 1] != '\n') throw Malformed{"a CR alone"};
        left.remove_prefix(i + 2);
        return text;
      }
      if (!is_text(left[i])) throw Malformed{"a control character"};
      text += left[i];
    }
    throw Cut{};
  }

  // Moves `count` bytes to `into`, or all there are before it throws Cut.
  void take(std::uint64_t count, std::string& into) {
    const auto some =
        left.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(count, left.size())));
    into += some;
    left.remove_prefix(some.size());
    if (some.size() < count) throw Cut{};
  }

  std::string_view left;
};

// RFC 9112 section 5.1: whether a proxy removes the white space after this name. Fields that frame
// a response are none of those.
bool may_be_spaced(const std::string& name) {
  for (const char* framing :
       {"content-length", "transfer-encoding", "connection", "proxy-connection", "keep-alive", "te",
        "trailer", "upgrade", "http2-settings", "proxy-authorization"}) {
    if (name == framing) return false;
  }
  return true;
}

// `odd`: for a response; set if a proxy has to mend the fields. Null: for a request.
Fields read_fields(Source& source, bool* odd) {
  Fields fields;
  for (std::string line = source.line(); !line.empty(); line = source.line()) {
    if (line[0] == ' ' || line[0] == '\t') {
      if (!odd || fields.empty()) throw Malformed{"a folded line"};
      fields.back().second = trimmed(fields.back().second + ' ' + trimmed(line));
      continue;
    }
    const auto colon = line.find(':');
    if (colon == std::string::npos) throw Malformed{"no field: " + line};
    std::string name = lower(line.substr(0, colon));
    const auto end = name.find_last_not_of(" \t") + 1;
    if (odd && end < name.size() && may_be_spaced(name.substr(0, end))) {
      name.resize(end);
      *odd = true;
    }
    if (!is_token(name)) throw Malformed{"no field: " + line};
    fields.emplace_back(name, trimmed(line.substr(colon + 1)));
  }
  return fields;
}

std::vector<std::string> values(const Fields& fields, std::string_view name) {
  std::vector<std::string> found;
  for (const auto& [candidate, value] : fields) {
    if (candidate == name) found.push_back(value);
  }
  return found;
}

// The digits that `text` begins with; nothing if there are none, or too many.
std::optional<std::uint64_t> number_in(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

enum class Framing { none, sized, chunked };

struct Body {
  Framing framing = Framing::none;
  std::uint64_t size = 0;
};

// The framing by one Content-Length or one Transfer-Encoding, or by none (RFC 9112 section 6).
Body stated_body(const Fields& fields, bool http10) {
  const auto lengths = values(fields, "content-length");
  const auto codings = values(fields, "transfer-encoding");
  if (lengths.size() + codings.size() > 1) throw Malformed{"two statements of the length"};
  if (!codings.empty()) {
    if (http10) throw Malformed{"Transfer-Encoding in HTTP/1.0"};
    if (lower(codings[0]) != "chunked") throw Malformed{"another coding than chunked"};
    return {Framing::chunked};
  }
  if (lengths.empty()) return {};
  const auto& length = lengths[0];
  if (length.empty() || !all_digits(length)) throw Malformed{"the length is no number"};
  const auto size = number_in(length, 10);
  if (!size || *size >> 63 != 0) throw Malformed{"the length is nobody's"};
  return {Framing::sized, *size};
}

// A recipient must parse blanks before an extension, though nobody should send them (RFC 9112
// section 7.1.1).
std::uint64_t chunk_size(const std::string& line) {
  constexpr std::size_t kMostDigits = 15;
  const auto end = std::min(line.find_first_not_of("0123456789abcdefABCDEF"), line.size());
  const auto rest = line.substr(end).find_first_not_of(" \t");
  const bool extended = rest != std::string::npos && line[end + rest] == ';';
  const auto size = number_in(std::string_view(line).substr(0, end), 16);
  if (!size || end > kMostDigits || (end < line.size() && !extended)) {
    throw Malformed{"no chunk size: " + line};
  }
  return *size;
}

void read_chunks(Source& source, std::string& body) {
  for (;;) {
    const auto size = chunk_size(source.line());
    if (size == 0) break;
    source.take(size, body);
    if (!source.line().empty()) throw Malformed{"bytes after a chunk"};
  }
  read_fields(source, nullptr);
}

void read_body(Source& source, const Body& body, std::string& into) {
  if (body.framing == Framing::sized) source.take(body.size, into);
  if (body.framing == Framing::chunked) read_chunks(source, into);
}

// A name, or an address in brackets, perhaps with a port.
bool is_host(std::string_view text) {
  constexpr std::string_view kInAddress = "0123456789abcdefABCDEF:.";
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    if (text.substr(1, end - 1).find_first_not_of(kInAddress) != std::string_view::npos) {
      return false;
    }
    text.remove_prefix(end + 1);
  } else {
    const auto end = std::find_if(text.begin(), text.end(), [](char c) {
      constexpr std::string_view kMarks = "._~-";
      const bool alone = kMarks.find(c) != std::string_view::npos;
      return !alone && !std::isalnum(static_cast<unsigned char>(c));
    });
    if (end == text.begin()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  }
  return text.empty() || (text[0] == ':' && all_digits(text.substr(1)));
}

void check_host(const Message& request) {
  const auto hosts = values(request.fields, "host");
  const bool http10 = request.third == "HTTP/1.0";
  if (hosts.size() > 1 || (hosts.empty() && !http10)) throw Malformed{"not one Host"};
  if (!hosts.empty() && !is_host(hosts[0])) throw Malformed{"a bad Host"};
}

// HTTP/1.0 to HTTP/1.9.
bool is_version(std::string_view text) {
  return text.size() == 8 && text.starts_with("HTTP/1.") && is_digit(text[7]);
}

// A URL of http or https, or of a WebSocket that begins so, with an authority.
bool is_absolute(std::string_view target) {
  const auto end = target.find("://");
  if (end == std::string_view::npos) return false;
  const auto scheme = lower(target.substr(0, end));
  const auto authority = target.substr(end + 3);
  const bool is_known = scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss";
  return is_known && !authority.empty() && authority[0] != '/' && authority[0] != '?';
}

void read_request_line(const std::string& line, Message& request) {
  const auto first = line.find(' '), last = line.rfind(' ');
  if (first == std::string::npos || first == last) throw Malformed{"no request line: " + line};
  request.first = line.substr(0, first);
  request.second = line.substr(first + 1, last - first - 1);
  request.third = line.substr(last + 1);
  const bool plain =
      !request.second.empty() && request.second.find_first_of(" \t#") == std::string::npos;
  if (!plain || !is_version(request.third)) throw Malformed{"no request line: " + line};
  if (!is_token(request.first)) throw Malformed{"the method is no token"};
  if (request.first == "CONNECT" || request.second[0] == '/') return;
  if (request.second == "*" && request.first == "OPTIONS") return;
  if (!is_absolute(request.second)) throw Malformed{"no target: " + line};
}

void read_request(Source& source, Message& request) {
  std::string line = source.line();
  if (line.empty()) line = source.line();  // RFC 9112 section 2.2
  read_request_line(line, request);
  request.fields = read_fields(source, nullptr);
  check_host(request);
  const Body body = stated_body(request.fields, request.third == "HTTP/1.0");
  if (request.first == "CONNECT" && body.size > 0) throw Malformed{"CONNECT with a body"};
  read_body(source, body, request.body);
}

Message read_status_line(const std::string& line) {
  const bool icy = line.starts_with("ICY ");
  const std::size_t at = icy ? 3 : 8;  // the end of the version
  const auto code = line.size() < at + 4 ? std::string() : line.substr(at + 1, 3);
  const bool good = !code.empty() && (icy || is_version(line.substr(0, at))) && line[at] == ' ' &&
                    all_digits(code) && code[0] > (icy ? '1' : '0') &&
                    (line.size() == at + 4 || line[at + 4] == ' ');
  if (!good) throw Malformed{"no status line: " + line};
  return {line.substr(0, at), code, line.substr(at + 4), {}, {}};
}

// Reads one response; true if it is a final one.
bool read_one_answer(Source& source, Answer& answer, std::string_view method) {
  answer.message = read_status_line(source.line());
  answer.message.fields = read_fields(source, &answer.odd);
  answer.status = std::stoi(answer.message.second);
  if (answer.status == 101) throw Malformed{"an interim answer that is none"};
  if (answer.status < 200) {  // RFC 9112 section 6.3: it has no body, whatever it states
    const auto& fields = answer.message.fields;
    answer.odd = answer.odd || !values(fields, "content-length").empty() ||
                 !values(fields, "transfer-encoding").empty();
    return false;
  }
  const bool http10 = answer.message.first == "HTTP/1.0" || answer.message.first == "ICY";
  const Body body = stated_body(answer.message.fields, http10);
  if (method == "HEAD" || answer.status == 204 || answer.status == 304) return true;
  if (body.framing == Framing::none) {
    source.take(source.left.size(), answer.message.body);
  } else {
    read_body(source, body, answer.message.body);
  }
  return true;
}

}  // namespace

Requests read_requests(std::string_view bytes) {
  Requests requests;
  Source source(bytes);
  requests.rest = bytes;
  try {
    while (!source.left.empty()) {
      Message request;
      read_request(source, request);
      requests.rest = source.left;
      requests.whole.push_back(std::move(request));
    }
  } catch (const Cut&) {
    requests.end = End::cut;
  } catch (const Malformed& malformed) {
    requests.end = End::malformed;
    requests.fault = malformed.why;
  }
  return requests;
}

Answer read_answer(std::string_view bytes, std::string_view method) {
  Answer answer;
  Source source(bytes);
  try {
    while (!read_one_answer(source, answer, method)) {
    }
    answer.end = End::whole;
  } catch (const Cut&) {
    answer.end = End::cut;
  } catch (const Malformed& malformed) {
    answer.end = End::malformed;
    answer.fault = malformed.why;
  }
  answer.rest = source.left;
  return answer;
}

// Percent-encodes the bytes above 127, as the proxy is to do.
std::string encoded(std::string_view path) {
  std::string text;
  for (const char c : path) {
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned>(c) & 0xff);
    text += c < 0 ? code : std::string(1, c);
  }
  return text;
}

std::string path_asked(const Message& request) {
  const auto scheme = request.second.find("://");
  if (request.second[0] == '/' || scheme == std::string::npos) return encoded(request.second);
  const auto end = request.second.find_first_of("/?", scheme + 3);
  if (end == std::string::npos) return request.first == "OPTIONS" ? "*" : "/";
  return (request.second[end] == '?' ? "/" : "") + encoded(request.second.substr(end));
}

std::string not_normal(const Message& request) {
  if (request.third != "HTTP/1.1") return "the version is " + request.third;
  if (request.second[0] != '/' && request.second != "*") return "the target is " + request.second;
  if (values(request.fields, "host").size() != 1) return "not one Host";
  if (values(request.fields, "via").empty()) return "no Via";
  const auto upgrade = values(request.fields, "upgrade");
  const auto connection = values(request.fields, "connection");
  using One = std::vector<std::string>;
  const bool websocket = upgrade == One{"websocket"} && connection == One{"Upgrade"};
  if (!websocket && !(upgrade.empty() && connection.empty())) return "an Upgrade or Connection";
  for (const char* name :
       {"keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer"}) {
    if (!values(request.fields, name).empty()) return std::string("the field ") + name;
  }
  return {};
}

}  // namespace support::strict

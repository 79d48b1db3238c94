#include "tests/support/strict_reading.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <regex>

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

Fields read_fields(Source& source, bool may_fold) {
  Fields fields;
  for (std::string line = source.line(); !line.empty(); line = source.line()) {
    if (line[0] == ' ' || line[0] == '\t') {
      if (!may_fold || fields.empty()) throw Malformed{"a folded line"};
      fields.back().second = trimmed(fields.back().second + ' ' + trimmed(line));
      continue;
    }
    const auto colon = line.find(':');
    if (colon == std::string::npos || !is_token(line.substr(0, colon))) {
      throw Malformed{"no field: " + line};
    }
    fields.emplace_back(lower(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
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
  static const std::regex kNumber("0*[0-9]{1,19}");
  if (!std::regex_match(lengths[0], kNumber)) throw Malformed{"the length is no number"};
  const auto size = std::stoull(lengths[0]);
  if (size >> 63 != 0) throw Malformed{"the length is nobody's"};
  return {Framing::sized, size};
}

void read_chunks(Source& source, std::string& body) {
  // A recipient must parse blanks before an extension, though nobody should send them (RFC 9112
  // section 7.1.1).
  static const std::regex kSize("([0-9a-fA-F]{1,15})([ \t]*;.*)?");
  for (;;) {
    const std::string line = source.line();
    std::smatch parts;
    if (!std::regex_match(line, parts, kSize)) throw Malformed{"no chunk size: " + line};
    const auto size = std::stoull(parts[1], nullptr, 16);
    if (size == 0) break;
    source.take(size, body);
    if (!source.line().empty()) throw Malformed{"bytes after a chunk"};
  }
  read_fields(source, false);
}

void read_body(Source& source, const Body& body, std::string& into) {
  if (body.framing == Framing::sized) source.take(body.size, into);
  if (body.framing == Framing::chunked) read_chunks(source, into);
}

void check_host(const Message& request) {
  static const std::regex kHost("([A-Za-z0-9._~-]+|\\[[0-9a-fA-F:.]+\\])(:[0-9]*)?");
  const auto hosts = values(request.fields, "host");
  const bool http10 = request.third == "HTTP/1.0";
  if (hosts.size() > 1 || (hosts.empty() && !http10)) throw Malformed{"not one Host"};
  if (!hosts.empty() && !std::regex_match(hosts[0], kHost)) throw Malformed{"a bad Host"};
}

void read_request_line(const std::string& line, Message& request) {
  static const std::regex kLine("([^ ]+) ([^ \\t#]+) (HTTP/1\\.[0-9])");
  static const std::regex kAbsolute("[Hh][Tt][Tt][Pp][Ss]?://[^/?]+([/?].*)?");
  std::smatch parts;
  if (!std::regex_match(line, parts, kLine)) throw Malformed{"no request line: " + line};
  request.first = parts[1];
  request.second = parts[2];
  request.third = parts[3];
  if (!is_token(request.first)) throw Malformed{"the method is no token"};
  if (request.first == "CONNECT" || request.second[0] == '/') return;
  if (request.second == "*" && request.first == "OPTIONS") return;
  if (!std::regex_match(request.second, kAbsolute)) throw Malformed{"no target: " + line};
}

void read_request(Source& source, Message& request) {
  std::string line = source.line();
  if (line.empty()) line = source.line();  // RFC 9112 section 2.2
  read_request_line(line, request);
  request.fields = read_fields(source, false);
  check_host(request);
  const Body body = stated_body(request.fields, request.third == "HTTP/1.0");
  if (request.first == "CONNECT" && body.size > 0) throw Malformed{"CONNECT with a body"};
  read_body(source, body, request.body);
}

// Reads one response; true if it is a final one.
bool read_one_answer(Source& source, Answer& answer, std::string_view method) {
  static const std::regex kLine("(HTTP/1\\.[0-9]) ([1-9][0-9][0-9])( .*)?");
  const std::string line = source.line();
  std::smatch parts;
  if (!std::regex_match(line, parts, kLine)) throw Malformed{"no status line: " + line};
  answer.message = {parts[1], parts[2], parts[3], read_fields(source, true), {}};
  answer.status = std::stoi(answer.message.second);
  const Body body = stated_body(answer.message.fields, answer.message.first == "HTTP/1.0");
  if (answer.status < 200) {
    const bool stated = body.framing == Framing::chunked || body.size > 0;
    if (stated || answer.status == 101) throw Malformed{"an interim answer that is none"};
    return false;
  }
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
  try {
    while (!source.left.empty()) {
      Message request;
      read_request(source, request);
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

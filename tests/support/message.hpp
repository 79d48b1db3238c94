// HTTP/1.1 messages as values, and the texts of those that tests send.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {

using Field = std::pair<std::string, std::string>;
using Fields = std::vector<Field>;

// A start line and its fields. Names are compared without case.
struct Head {
  std::string start_line;
  Fields fields;

  bool has(std::string_view name) const;
  // All values of this name, joined by ", "; empty if there is none.
  std::string field(std::string_view name) const;
};

struct Request : Head {
  std::string method;
  std::string target;
  std::string path;  // of the target in any form, with its query
  std::string body;  // the bytes received so far
  bool whole = false;
  std::size_t connection = 0;     // connections are numbered from 0 in the order of accept
  std::size_t on_connection = 0;  // the requests of a connection are numbered from 0
};

struct Response : Head {
  int status = 0;
  std::string body;
  bool whole = false;  // the body ended as its framing said

  std::string version() const { return start_line.substr(0, start_line.find(' ')); }
};

// True if the text contains the part, case aside.
bool contains(std::string_view text, std::string_view part);
// How often the text has the part.
std::size_t count_of(std::string_view text, std::string_view part);

// "host:port" and "/path" of "http://host:port/path"; path_of("/path") is "/path".
std::string authority_of(std::string_view url);
std::string path_of(std::string_view target);

// The time `from_now`, in the format of Date and Expires.
std::string http_date(std::chrono::seconds from_now = std::chrono::seconds(0));

std::string head_text(std::string_view start_line, const Fields& fields);
std::string chunk(std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace support

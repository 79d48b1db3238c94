// Messages as plain data, for the model of RFC 9111, its stories and the caches under test. They
// use no code of the proxy, whose errors the model must not share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace model {

using Seconds = long;  // a time since the epoch, or a duration

struct Field {
  std::string name, value;
};
using Fields = std::vector<Field>;

// A request for one of a story's few URLs.
struct Ask {
  std::string method = "GET";
  int url = 0;
  Fields fields;
};

struct Answer {
  int status = 0;
  Fields fields;
  std::string body;
  bool cut = false;  // the origin closed without a byte
};

// A request and its answer between the cache and the origin.
struct Exchange {
  Ask sent;
  Answer got;
  Seconds asked = 0, answered = 0;
};

// What followed from one request of a client.
struct Told {
  Answer response;
  std::vector<Exchange> exchanges;
  Seconds begun = 0, answered = 0;
  bool answered_first = false;  // before the origin was asked
};

std::string lower(std::string text);
std::string trim(std::string text);
bool same_word(std::string_view a, std::string_view b);

bool has(const Fields& fields, std::string_view name);
// The values of all lines of this name, in order.
std::vector<std::string> lines(const Fields& fields, std::string_view name);
// The value of the first line of this name, or an empty text.
std::string value(const Fields& fields, std::string_view name);
void remove(Fields& fields, std::string_view name);

std::string path_of(int url);
// The body of a version of this URL at the origin.
std::string body_of(int url, int version);

// For the report of a failure.
std::string text(const Ask& ask);
std::string text(const Answer& answer);

}  // namespace model

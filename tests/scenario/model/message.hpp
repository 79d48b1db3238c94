// What the model of RFC 9111, the stories told to it and the caches under test share: messages as
// plain data, with nothing of the proxy's own code, whose errors the model must not have.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace model {

using Seconds = long;  // since the epoch, or a number of them

struct Field {
  std::string name, value;
};
using Fields = std::vector<Field>;

// A request for one of the few URLs of a story.
struct Ask {
  std::string method = "GET";
  int url = 0;
  Fields fields;
};

struct Answer {
  int status = 0;
  Fields fields;
  std::string body;
  bool cut = false;  // the origin hung up before it said anything
};

// What passed between the cache and the origin, as the origin saw it.
struct Exchange {
  Ask sent;
  Answer got;
  Seconds asked = 0, answered = 0;
};

// What one request of a client led to.
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
// The values of all lines of that name, in order.
std::vector<std::string> lines(const Fields& fields, std::string_view name);
// The first of them, or empty.
std::string value(const Fields& fields, std::string_view name);
void remove(Fields& fields, std::string_view name);

std::string path_of(int url);
// What the origin holds at that URL: a version has one body.
std::string body_of(int url, int version);

// For a person who reads of a failure.
std::string text(const Ask& ask);
std::string text(const Answer& answer);

}  // namespace model

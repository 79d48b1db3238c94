// An obvious reading of HTTP/1.1 messages (RFC 9112), for tests alone: slow, strict, line by line,
// and nothing in it is shared with the proxy that it is to judge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/message.hpp"

namespace support::strict {

enum class End {
  whole,
  cut,        // good as far as it goes
  malformed,  // or ambiguous
};

struct Message {
  std::string first, second, third;  // of the start line
  Fields fields;
  std::string body;  // as much as there is
};

struct Requests {
  std::vector<Message> whole;  // in order, up to the first that is not
  End end = End::whole;        // how what follows them ends; whole: nothing follows
  std::string fault;           // of a malformed one
};
Requests read_requests(std::string_view bytes);

struct Answer {
  End end = End::cut;
  int status = 0;
  Message message;
  std::string_view rest;  // what follows it
  std::string fault;
};
// The final answer to such a request; interim ones before it are skipped. The end of the bytes is
// that of the connection.
Answer read_answer(std::string_view bytes, std::string_view method = "GET");

// What an origin is asked for by a request target in any form but authority-form.
std::string path_asked(const Message& request);
// Why the request is not one that a proxy should have sent to an origin; empty if it is.
std::string not_normal(const Message& request);

}  // namespace support::strict

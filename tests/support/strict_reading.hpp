// A plain reading of HTTP/1.1 messages (RFC 9112) for the tests of hostile and mutated messages:
// slow, strict, line by line, with no code of the proxy. Beast's parser is laxer: it takes, for
// instance, folded lines and repeated lengths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/message.hpp"

namespace support::strict {

enum class End {
  whole,
  cut,        // the beginning of a good message
  malformed,  // wrong or ambiguous
};

struct Message {
  std::string first, second, third;  // of the start line
  Fields fields;
  std::string body;  // all bytes up to the end or the fault
};

struct Requests {
  std::vector<Message> whole;  // in order, up to the first that is not whole
  std::string_view rest;       // the bytes after them
  End end = End::whole;        // of `rest`; whole if it is empty
  std::string fault;           // why the bytes after them are malformed
};
Requests read_requests(std::string_view bytes);

struct Answer {
  End end = End::cut;
  int status = 0;
  Message message;
  std::string_view rest;  // the bytes after it
  std::string fault;
  bool odd = false;  // a recipient reads it, but a proxy mends it before it sends it on
};
// The final response to a request of this method; interim responses before it are skipped. The
// connection ended after the last of the bytes.
Answer read_answer(std::string_view bytes, std::string_view method = "GET");

// The origin-form of a request's target, which is in any form but authority-form.
std::string path_asked(const Message& request);
// Why a proxy should not have sent this request to an origin; empty if it may.
std::string not_normal(const Message& request);

}  // namespace support::strict

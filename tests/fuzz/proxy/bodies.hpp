// The bodies that servers sent, by URL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/policy/policy.hpp"
#include "tests/fuzz/proxy/ends.hpp"
#include "tests/support/strict_reading.hpp"

namespace fuzz {

// The value of a field; empty if there is none.
std::string value(const support::Fields& fields, std::string_view name);

// The same without blanks: of a folded line, the proxy may make more blanks of one.
std::string without_blanks(const support::Fields& fields, std::string_view name);
// The Content-Encoding; empty, too, if it is identity.
std::string coding_of(const support::Fields& fields);

// The URL of a request as the cache names it, by its host and its path. Either may be empty.
struct Place {
  std::string host;
  std::string path;
};
// Nothing if the proxy refuses the target.
std::optional<Place> place_of(const proxy::policy::Policy& policy,
                              const support::strict::Message& request);

class Bodies {
 public:
  explicit Bodies(const proxy::policy::Policy& policy) : policy_(policy) {}

  // Adds the answers that went over the connection.
  void add(const ServerEnd& server);

  // What a client was given.
  struct Given {
    std::optional<Place> place;   // nothing: any, since redirects between hosts were followed
    bool asked_for_part = false;  // the request had Range
    bool is_part = false;         // a 206
    std::uint64_t first = 0;      // where the body begins in the representation
    std::string coding;           // Content-Encoding
    std::string etag;
    std::string_view body;
  };

  // Whether this body may be passed off as whole. Its bytes were sent for the URL in the same
  // coding, and with the same ETag if they are of several answers. A slice that was called 200 is
  // for requests with Range.
  bool explain(const Given& given) const;

 private:
  struct Sent {
    std::optional<Place> place;  // nothing: unknown
    std::uint64_t first = 0;
    std::string bytes;
    bool whole = false;  // all of a body
    std::string coding;
    std::string etag;
    bool sliced = false;  // a 200 with Content-Range, in answer to Range: perhaps a part

    bool is_of(const Given& given) const;
    // How many bytes of `theirs`, which begin at `at` in the representation, are the same here.
    std::size_t agrees(std::uint64_t at, std::string_view theirs) const;
  };

  void add(const support::strict::Answer& answer, const support::strict::Message* request);

  const proxy::policy::Policy& policy_;
  std::vector<Sent> sent_;
};

// The range of a Content-Range with a single range.
struct Part {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
std::optional<Part> part_of(const support::Fields& fields);

}  // namespace fuzz

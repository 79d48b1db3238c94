// The bodies that servers sent, by URL.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/policy/policy.hpp"
#include "tests/fuzz/proxy/ends.hpp"
#include "tests/support/strict_reading.hpp"

namespace fuzz {

// The value of a field; empty if there is none.
std::string value(const support::Fields& fields, std::string_view name);

// The URL of a request as the cache names it, by its host and its path. Either may be empty.
struct Place {
  std::string host;
  std::string path;
};
// Nothing if the proxy refuses the target.
std::optional<Place> place_of(const proxy::Policy& policy, const support::strict::Message& request);

class Bodies {
 public:
  explicit Bodies(const proxy::Policy& policy) : policy_(policy) {}

  // Adds the answers that went over the connection.
  void add(const ServerEnd& server);

  // Whether these bytes of the body for this URL, from `first` on, may be passed off as whole.
  bool explain(const Place& place, std::uint64_t first, bool is_part, std::string_view body) const;

 private:
  struct Sent {
    std::optional<Place> place;  // nothing: unknown
    std::uint64_t first = 0;
    std::string bytes;
    bool whole = false;  // all of a body
  };

  void add(const support::strict::Answer& answer, std::optional<Place> place);

  const proxy::Policy& policy_;
  std::vector<Sent> sent_;
};

// The range of a Content-Range with a single range.
struct Part {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
std::optional<Part> part_of(const support::Fields& fields);

}  // namespace fuzz

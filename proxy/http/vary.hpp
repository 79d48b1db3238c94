// Content negotiation in a cache (RFC 9111 4.1): selects the requests that a stored response
// answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/fields.hpp"

namespace proxy::http {

// Selects one stored response among those of its URL: the request fields that Vary names, and those
// of the fetching request that are marked (Field::selects), with their values in that request. Owns
// its text. Without such fields it matches every request in which no field is marked.
class Variant {
 public:
  // A request field that selects, and the normal form of its value.
  struct SelectingField {
    field id;
    std::string name;  // lower case
    std::optional<std::string> value;

    bool operator==(const SelectingField&) const = default;
  };

  Variant() = default;
  Variant(const Fields& response, const Fields& request);
  // Makes a variant from saved selecting_fields(). Returns nothing if they are not sorted, are too
  // many, or a name is not a token in lower case.
  static std::optional<Variant> of(std::vector<SelectingField> fields);

  // Compares each field in its normal form (normal_form.hpp). An absent field matches only if it is
  // absent in both. Each marked field of the request must be among them. A Vary that is `*` or
  // cannot be read never matches, nor do more than 64 fields.
  bool matches(const Fields& request) const;
  // Whether no request can match.
  bool never_matches() const { return never_; }
  bool varies() const { return never_ || !fields_.empty(); }
  // Equal variants match the same requests.
  friend bool operator==(const Variant&, const Variant&) = default;
  // The selecting fields as text, in Squid's spelling with the names sorted:
  // `accept-encoding="gzip", cookie`.
  std::string mark() const;
  // Sorted by name; empty if never_matches().
  const std::vector<SelectingField>& selecting_fields() const { return fields_; }
  // Bytes on the heap.
  std::size_t footprint() const;

 private:
  bool names(const Field& line) const;

  std::vector<SelectingField> fields_;
  bool never_ = false;
};

}  // namespace proxy::http

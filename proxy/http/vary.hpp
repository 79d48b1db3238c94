// Content negotiation as a cache sees it (RFC 9111 4.1): which requests a stored response answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/fields.hpp"

namespace proxy::http {

// What selects one stored response among those of its URL: the request fields that Vary names, as
// the request that fetched it had them. Owns its text. Without Vary it matches every request.
class Variant {
 public:
  // A request field that Vary names, and its value in its normal form.
  struct SelectingField {
    field id;
    std::string name;  // lower case
    std::optional<std::string> value;

    bool operator==(const SelectingField&) const = default;
  };

  Variant() = default;
  Variant(const Fields& response, const Fields& request);
  // From selecting_fields() of another, which were written down. Nothing where they are not sorted,
  // or more than there can be, or a name is no token in lower case.
  static std::optional<Variant> of(std::vector<SelectingField> fields);

  // Field by field, in their normal form (normal_form.hpp): absent matches absent only. `Vary: *`,
  // one that cannot be read, and one of more than 64 fields never match.
  bool matches(const Fields& request) const;
  // Nobody else's request can match.
  bool never_matches() const { return never_; }
  bool varies() const { return never_ || !fields_.empty(); }
  // Equal: they match the same requests.
  friend bool operator==(const Variant&, const Variant&) = default;
  // What it is selected by, as text, in Squid's spelling with the names sorted:
  // `accept-encoding="gzip", cookie`.
  std::string mark() const;
  // Sorted by name; none where never_matches().
  const std::vector<SelectingField>& selecting_fields() const { return fields_; }
  // Bytes on the heap.
  std::size_t footprint() const;

 private:
  std::vector<SelectingField> fields_;
  bool never_ = false;
};

}  // namespace proxy::http

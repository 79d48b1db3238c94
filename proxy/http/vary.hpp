// Content negotiation in a cache (RFC 9111 4.1): selects the requests that a
// stored response answers.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/fields.hpp"
#include "proxy/http/normal_form.hpp"

namespace proxy::http {

// Selects one stored response among those of its URL: the request fields that
// Vary names, and those of the fetching request that are marked
// (Field::selects), with their values in that request. Owns its text. Without
// such fields it matches every request in which no field is marked.
class Variant {
 public:
  // A request field that selects, and the normal form of its value.
  struct SelectingField {
    field id;
    std::string name;  // lower case
    std::optional<std::string> value;
    std::size_t digest = 0;  // of the value, as in NormalForms

    bool operator==(const SelectingField&) const = default;
  };

  using SelectingFields = std::vector<SelectingField>;

  Variant() = default;
  Variant(const Fields& response, NormalForms& request);
  Variant(const Fields& response, const Fields& request);
  // Whether the values of the request's selecting fields have more than NormalForms::kMostBytes
  // together. The variant of such a request never matches.
  static bool is_too_long(const Fields& response, const Fields& request);
  // Makes a variant from saved selecting_fields(). Returns nothing if they are
  // not sorted, are too many, or a name is not a token in lower case.
  static std::optional<Variant> of(SelectingFields fields);

  // Compares each field in its normal form (normal_form.hpp). An absent field
  // matches only if it is absent in both. Each marked field of the request must
  // be among them. A Vary that is `*` or cannot be read never matches, nor do
  // more than 64 fields, nor fields with more than NormalForms::kMostBytes.
  bool matches(NormalForms& request) const;
  bool matches(const Fields& request) const;
  // Whether no request can match.
  bool never_matches() const { return shared_ && shared_ == never(); }
  bool varies() const { return shared_ != nullptr; }
  // Equal variants match the same requests.
  friend bool operator==(const Variant& a, const Variant& b) {
    return a.never_matches() == b.never_matches() && a.selecting_fields() == b.selecting_fields();
  }
  // The selecting fields as text, in Squid's spelling with the names sorted:
  // `accept-encoding="gzip", cookie`.
  std::string mark() const;
  // Sorted by name; empty if never_matches().
  const SelectingFields& selecting_fields() const;
  // Bytes on the heap.
  std::size_t footprint() const;

 private:
  struct Shared : boost::intrusive_ref_counter<Shared> {
    explicit Shared(SelectingFields its) : fields(std::move(its)) {}
    const SelectingFields fields;
  };
  using Pointer = boost::intrusive_ptr<const Shared>;

  bool names(const Field& line) const;

  // Stands for a variant that never matches.
  static const Pointer& never();
  void keep(SelectingFields fields);

  // Shared by copies, which is safe since it never changes. Null if no field
  // selects: nearly every stored response has no more than this pointer.
  Pointer shared_;
};

}  // namespace proxy::http

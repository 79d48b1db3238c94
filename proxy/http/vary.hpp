// Content negotiation in a cache (RFC 9111 4.1): selects the requests that a
// stored response answers.
#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/fields.hpp"

namespace proxy::http {

// The normal forms of one request's fields: equal forms select the same response. Each is made when
// it is first asked for, and only once, because the request is compared with all variants of a URL.
// The fields outlive this object.
//
// A form has all lines of one field as one value. It ignores white space around the members of a
// list, and their distribution over lines. In Accept, Accept-Charset, Accept-Encoding and
// Accept-Language it also ignores empty members, the order of members and the notation of weights,
// and, except in Accept, case. Fields that are not lists (Cookie, Authorization, User-Agent, ...)
// are unchanged. Allocates only for long values or many members.
class NormalForms {
 public:
  // Fields with more bytes do not select. Otherwise their sender could keep the thread busy, and
  // store as many bytes with each response.
  static constexpr std::size_t kMostBytes = 4096;

  explicit NormalForms(const Fields& request) : request_(request) {}

  const Fields& request() const { return request_; }

  struct Form {
    const Field* first;  // the field's first line
    std::size_t bytes;   // of the values as received
    std::size_t begin;   // of the normal form
    std::size_t size;    // of the normal form; 0 if `bytes` are more than kMostBytes
    std::size_t digest;
  };
  // The normal form of the field. Null: the request does not have it. Valid until the next call.
  const Form* of(field id, std::string_view name);
  std::string_view text(const Form& form) const { return {text_.data() + form.begin, form.size}; }
  // How many were made.
  std::size_t count() const { return forms_.size(); }

 private:
  const Fields& request_;
  boost::container::small_vector<Form, 4> forms_;
  boost::container::small_vector<char, 256> text_;
};

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

  // Compares each field in its normal form (NormalForms). An absent field matches only if it is
  // absent in both. Every field of the request that is marked (Field::selects) must be among the
  // fields of the variant. A Vary that is `*` or cannot be read never matches, nor do more than 64
  // fields, nor fields with more than NormalForms::kMostBytes.
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
  // The selecting fields, sorted by name; empty if never_matches().
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

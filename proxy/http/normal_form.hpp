// A normal form of request fields: equal forms select the same response (RFC 9111 4.1).
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::http {

using NormalForm = boost::container::small_vector<char, 256>;

// Appends all lines of one field as one value; returns false if there are none. Finds the field by
// id, or by name if the id is `unknown`. The form ignores white space around the members of a list,
// and their distribution over lines. In Accept, Accept-Charset, Accept-Encoding and Accept-Language
// it also ignores empty members, the order of members and the notation of weights, and, except in
// Accept, case. Fields that are not lists (Cookie, Authorization, User-Agent, ...) are unchanged.
// Allocates only for long values or many members.
bool append_normal_form(NormalForm& out, const Fields& request, field id, std::string_view name);

// The normal forms of one request's fields. Each is made when it is first asked for, and only once,
// because the request is compared with all variants of a URL. The fields outlive this object.
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
  // Null: the request does not have the field. Valid until the next call.
  const Form* of(field id, std::string_view name);
  std::string_view text(const Form& form) const { return {text_.data() + form.begin, form.size}; }
  // How many were made.
  std::size_t count() const { return forms_.size(); }

 private:
  const Fields& request_;
  boost::container::small_vector<Form, 4> forms_;
  NormalForm text_;
};

}  // namespace proxy::http

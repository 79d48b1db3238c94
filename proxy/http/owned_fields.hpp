// Fields that outlive the message they were read from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::http {

// How many bytes the text of the fields has.
inline std::size_t text_size(const Fields& fields) {
  std::size_t size = 0;
  for (const Field& line : fields) size += line.name.size() + line.value.size();
  return size;
}

// Copies the text of the fields to `memory`, which has text_size() bytes, and returns the fields as
// views of that copy.
Fields copied_to(char* memory, const Fields& fields);

// A copy of fields together with the text that they refer to. Immutable; does not move.
class OwnedFields {
 public:
  explicit OwnedFields(const Fields& original);
  OwnedFields(const OwnedFields&) = delete;
  OwnedFields& operator=(const OwnedFields&) = delete;

  const Fields& fields() const { return fields_; }

 private:
  std::string text_;
  Fields fields_;
};

}  // namespace proxy::http

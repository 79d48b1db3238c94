#include "proxy/http/owned_fields.hpp"

#include <algorithm>

namespace proxy::http {

Fields copied_to(char* memory, const Fields& fields) {
  const auto copy = [&memory](std::string_view part) {
    const std::string_view copied(memory, part.size());
    memory = std::copy_n(part.data(), part.size(), memory);
    return copied;
  };
  Fields copies;
  for (const Field& line : fields) {
    const auto name = copy(line.name);
    copies.append({line.id, name, copy(line.value), line.selects});
  }
  return copies;
}

OwnedFields::OwnedFields(const Fields& original) : text_(text_size(original), '\0') {
  fields_ = copied_to(text_.data(), original);
}

}  // namespace proxy::http

#include "proxy/http/owned_fields.hpp"

namespace proxy::http {

OwnedFields::OwnedFields(const Fields& original) {
  std::size_t size = 0;
  for (const Field& line : original) size += line.name.size() + line.value.size();
  text_.reserve(size);  // the text never grows beyond it, so views of it stay valid
  const auto copy = [this](std::string_view part) {
    const auto at = text_.size();
    text_.append(part);
    return std::string_view(text_).substr(at);
  };
  for (const Field& line : original) {
    const auto name = copy(line.name);
    fields_.append({line.id, name, copy(line.value), line.selects});
  }
}

}  // namespace proxy::http

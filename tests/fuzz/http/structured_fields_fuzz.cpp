// A Structured Field is read from its own text only: a list of its members, written again, reads
// the same, and nothing that follows makes a malformed field valid.
#include <cstdlib>
#include <optional>
#include <string>

#include "proxy/http/structured_fields.hpp"

using namespace proxy::http;

namespace {

using Type = BareItem::Type;

std::string written(const BareItem& item) {
  const std::string text(item.text);
  switch (item.type) {
    case Type::string:
      return '"' + text + '"';
    case Type::bytes:
      return ':' + text + ':';
    case Type::boolean:
      return '?' + text;
    case Type::inner_list:
      return '(' + text + ')';
    case Type::number:
    case Type::token:
      break;
  }
  return text;
}

// The whole field in its shortest form; empty if it is malformed.
template <class Reader>
std::optional<std::string> rewritten(std::string_view line) {
  Reader reader(line);
  std::string all;
  while (const auto member = reader.next()) {
    if (!all.empty()) all += ',';
    if (!member->key.empty()) (all += member->key) += '=';
    all += written(member->item);
    for (const auto& [key, value] : member->parameters) {
      ((all += ';') += key) += '=' + written(value);
    }
    if (member->item.words().size() > member->item.text.size()) std::abort();
  }
  return reader.failed() ? std::nullopt : std::optional(all);
}

template <class Reader>
void check(std::string_view line) {
  const auto once = rewritten<Reader>(line);
  if (once && rewritten<Reader>(*once) != once) std::abort();
  const auto more = rewritten<Reader>(std::string(line) + ", a");
  if (once && !once->empty() && !more) std::abort();
  if (rewritten<Reader>(std::string(line) + ",")) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  check<StructuredList>(line);
  check<StructuredDictionary>(line);
  return 0;
}

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
std::optional<std::string> rewritten(std::string_view line, Structure structure) {
  StructuredReader reader(line, structure);
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

void check(std::string_view line, Structure structure) {
  const auto once = rewritten(line, structure);
  if (once && rewritten(*once, structure) != once) std::abort();
  const auto more = rewritten(std::string(line) + ", a", structure);
  if (once && !once->empty() && !more) std::abort();
  if (rewritten(std::string(line) + ",", structure)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  check(line, Structure::list);
  check(line, Structure::dictionary);
  return 0;
}

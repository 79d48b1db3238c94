#include "proxy/inspect/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace proxy::inspect {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Report::Value& value) {
  return std::visit(
      []<class T>(const T& known) -> Json {
        if constexpr (std::is_same_v<T, std::monostate>)
          return nullptr;
        else
          return known;
      },
      value);
}

std::string text_of(const Report::Value& value) {
  if (const auto* const truth = std::get_if<bool>(&value)) return *truth ? "yes" : "no";
  if (const auto* const number = std::get_if<std::uint64_t>(&value)) {
    return fmt::format("{}", fmt::group_digits(*number));
  }
  if (const auto* const number = std::get_if<double>(&value)) return fmt::format("{:.4g}", *number);
  return std::get<std::string>(value);
}

std::optional<Report::Value> value_of(const Json& json) {
  if (json.is_null()) return Report::Value();
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return std::nullopt;
}

}  // namespace

std::optional<Report> Report::of_json(std::string_view line) {
  // The line comes from a running proxy, which may be of another version.
  const auto object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  Report report;
  for (const auto& [name, json] : object.items()) {
    auto value = value_of(json);
    if (!value) return std::nullopt;
    report.add(name, std::move(*value));
  }
  return report;
}

std::string Report::json(Letters letters) const {
  Json object = Json::object();
  for (const auto& [name, value] : facts_) object[name] = json_of(value);
  const bool ascii = letters == Letters::ascii;
  // What is no UTF-8 is replaced: a URL may have any bytes, and a line that no program can read is
  // of no use.
  return object.dump(-1, ' ', ascii, Json::error_handler_t::replace) + '\n';
}

std::string Report::text() const {
  std::size_t width = 0;
  for (const auto& fact : facts_) width = std::max(width, fact.first.size());
  std::string text;
  for (auto [name, value] : facts_) {
    if (std::holds_alternative<std::monostate>(value)) continue;
    std::replace(name.begin(), name.end(), '_', ' ');
    text += fmt::format("{:<{}}  {}\n", name, width, text_of(value));
  }
  return text;
}

}  // namespace proxy::inspect

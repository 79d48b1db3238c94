#include "proxy/pages/purge_order.hpp"

#include <array>

#include "config/section.hpp"

namespace proxy {
namespace {

using config::LocatedValue;
using config::Section;

constexpr std::string_view kUrlForm = "a URL like \"http://example.com/a\"";

std::optional<http::Target> url_at(Section& in, const LocatedValue& found) {
  const auto* text = std::get_if<std::string>(&found.value->content);
  const auto target = text ? http::parse_target("GET", *text) : http::HeadError::bad_target;
  if (target && target->form() == http::Target::Form::absolute) return *target;
  in.expected(found, kUrlForm);
  return std::nullopt;
}

std::optional<PurgeOrder> read_order(Section& in) {
  const std::array values{in.find("url"), in.find("prefix"), in.find("host")};
  const auto given = std::count_if(values.begin(), values.end(),
                                   [](const auto& found) { return found.has_value(); });
  if (given != 1) {
    if (in.is_object()) in.fault(in.whole(), R"(expected one of "url", "prefix" and "host")");
    return std::nullopt;
  }
  const auto& [url, prefix, host] = values;
  if (url) return url_at(in, *url);
  if (host) {
    const auto hosts = in.host_pattern(*host);
    return hosts ? std::optional<PurgeOrder>(PurgePattern(HostPattern(*hosts))) : std::nullopt;
  }
  const auto begin = url_at(in, *prefix);
  return begin ? std::optional<PurgeOrder>(PurgePattern(begin->url())) : std::nullopt;
}

std::string text_of(const config::Faults& faults) {
  std::string text;
  for (const auto& fault : faults) {
    if (!text.empty()) text += '\n';
    text += "line " + std::to_string(fault.at.line) + ", column " +
            std::to_string(fault.at.column) +
            (fault.path.empty() ? ": " : ", " + fault.path + ": ");
    text += fault.what;
  }
  return text;
}

}  // namespace

boost::system::result<PurgeOrder, std::string> parse_purge_order(std::string_view json) {
  if (json.find_first_not_of(" \t\r\n") == json.npos) {
    return std::string(R"(is empty; a purge is ordered like {"url": "http://example.com/a"})");
  }
  config::Faults faults;
  std::optional<PurgeOrder> order;
  if (const auto document = config::parse_document(json, faults)) {
    Section in({&*document, ""}, faults);
    order = read_order(in);
    in.finish("key of a purge");
  }
  if (!faults.empty()) return text_of(faults);
  return std::move(*order);
}

}  // namespace proxy

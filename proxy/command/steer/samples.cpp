#include "proxy/command/steer/samples.hpp"

#include <algorithm>
#include <cstdlib>

namespace proxy::command {
namespace {

// Nothing: the text is no number.
std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0') return std::nullopt;
  return value;
}

}  // namespace

// A label's value may hold blanks, so the last one ends the name.
Samples::Samples(std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto blank = line.rfind(' ');
    if (line.starts_with('#') || blank == line.npos) continue;
    if (const auto value = number_in(std::string(line.substr(blank + 1)))) {
      values_.insert_or_assign(std::string(line.substr(0, blank)), *value);
    }
  }
}

std::optional<double> Samples::find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

double Samples::sum(std::string_view name) const {
  double total = get(name);
  each(name, [&total](std::string_view, double value) { total += value; });
  return total;
}

void Samples::each(std::string_view name,
                   const std::function<void(std::string_view, double)>& with) const {
  const auto labelled = std::string(name) + '{';
  for (auto at = values_.lower_bound(labelled); at != values_.end(); ++at) {
    if (!at->first.starts_with(labelled)) break;
    with(std::string_view(at->first).substr(labelled.size()), at->second);
  }
}

std::optional<std::string> label(std::string_view labels, std::string_view name) {
  const auto begin = std::string(name) + "=\"";
  for (auto at = labels.find(begin); at != labels.npos; at = labels.find(begin, at + 1)) {
    if (at > 0 && labels[at - 1] != ',') continue;
    std::string value;
    for (auto i = at + begin.size(); i < labels.size() && labels[i] != '"'; ++i) {
      if (labels[i] == '\\' && i + 1 < labels.size()) ++i;
      value += labels[i];
    }
    return value;
  }
  return std::nullopt;
}

}  // namespace proxy::command

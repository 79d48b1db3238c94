#include "config/environment.hpp"

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "config/text.hpp"

namespace config {

namespace {

constexpr std::string_view kBegin = "${";

bool is_name(std::string_view text) {
  constexpr std::string_view kChars =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  return !text.empty() && text.find_first_not_of(kChars) == text.npos &&
         (text.front() < '0' || text.front() > '9');
}

class Inserter {
 public:
  explicit Inserter(Faults& faults) : faults_(faults) {}

  void complete(Value& value, const std::string& path) {
    if (auto* const items = std::get_if<Array>(&value.content)) {
      for (std::size_t i = 0; i < items->size(); ++i) complete((*items)[i], path_of(path, i));
    } else if (auto* const members = std::get_if<Object>(&value.content)) {
      for (Member& member : *members) complete(member.value, path_of(path, member.key));
    } else if (auto* const text = std::get_if<std::string>(&value.content)) {
      if (text->find(kBegin) == text->npos) return;
      auto what = insert(*text, value.from_environment);
      if (!what.empty()) faults_.push_back({value.at, path, std::move(what)});
    }
  }

 private:
  // Returns what is wrong; empty: nothing.
  std::string insert(std::string& text, bool& inserted) {
    std::string whole;
    std::string_view rest = text;
    for (auto at = rest.find(kBegin); at != rest.npos; at = rest.find(kBegin)) {
      whole += rest.substr(0, at);
      const bool is_escaped = at > 0 && rest[at - 1] == '$';  // in the text, not in a value
      rest.remove_prefix(at + kBegin.size());
      if (is_escaped) {
        whole += '{';
        continue;
      }
      const auto end = rest.find('}');
      const std::string name(rest.substr(0, end));
      if (end == rest.npos || !is_name(name)) {
        return "expected \"${NAME}\", with a name of letters, digits and \"_\"; write \"$${\" for "
               "\"${\" itself";
      }
      const char* const value = std::getenv(name.c_str());
      if (!value) {
        return printable(name, 60) + " is not set in the environment; set it (for a service, by " +
               "Environment= in its unit), or write its value here";
      }
      whole += value;
      inserted_ += std::string_view(value).size();
      if (inserted_ > kLongestSettings) return "inserts more than settings can have";
      inserted = true;
      rest.remove_prefix(end + 1);
    }
    text = whole.append(rest);
    return {};
  }

  Faults& faults_;
  std::size_t inserted_ = 0;  // bytes
};

}  // namespace

bool insert_environment(Value& document, Faults& faults) {
  const std::size_t known = faults.size();
  Inserter(faults).complete(document, "");
  return faults.size() == known;
}

}  // namespace config

#include "proxy/command/squid/required.hpp"

namespace proxy::command::squid {
namespace {

void require(Required& required, const Conditions& conditions) {
  required.parts.push_back(conditions);
  if (auto all = both(required.all, conditions)) {
    required.all = std::move(*all);
  } else {
    required.never = true;
  }
}

void be_unknown(Required& required, const std::string& name, std::string_view why) {
  if (required.unknown.empty()) required.unknown = "acl " + name + ": " + std::string(why);
}

// Squid tests the acls from the left, up to the first that the request does not meet.
void note_user(Required& required) {
  if (required.never) return;
  if (required.is_about_pages()) {
    required.pages_for_users = true;
  } else if (!required.before_user) {
    required.before_user = required.parts;
  }
}

void add_term(Required& required, const std::string& word, const Acls& acls, bool allows) {
  const bool negated = word.starts_with('!');
  const std::string name = word.substr(negated ? 1 : 0);
  const auto found = acls.find(name);
  if (found == acls.end()) return be_unknown(required, name, "no acl line defines it");
  const Acl& acl = found->second;
  if (acl.asks_for_user) note_user(required);
  // An acl that lacks values is a part of what is meant. That is safe where it allows less.
  if (!acl.left_out.empty() && allows == negated) {
    return be_unknown(required, name, "one of its values has no equal");
  }
  switch (acl.kind) {
    case Acl::Kind::every:
      required.never = required.never || negated;
      return;
    case Acl::Kind::none:
      required.never = required.never || !negated;
      return;
    case Acl::Kind::manager:
      required.pages = required.pages || !negated;
      return;
    case Acl::Kind::unknown:
      return be_unknown(required, name, acl.why);
    case Acl::Kind::destinations:
      if (negated) return be_unknown(required, name, "only deny_to knows the addresses of origins");
      required.destinations = acl.destinations;
      return;
    case Acl::Kind::conditions:
      break;
  }
  if (!negated) return require(required, acl.conditions);
  if (const auto others = opposite(acl.conditions)) return require(required, *others);
  required.except.push_back(acl.conditions);
}

}  // namespace

bool Required::is_about_pages() const {
  return pages || all.methods == std::vector<std::string>{"PURGE"};
}

Required required_by(const Line& line, const Acls& acls, bool allows) {
  Required required;
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    add_term(required, line.words[i].text, acls, allows);
  }
  if (line.words.size() == 2) {
    const auto found = acls.find(line.words[1].text);
    if (found != acls.end()) required.hosts_file = found->second.hosts_file;
  }
  return required;
}

}  // namespace proxy::command::squid

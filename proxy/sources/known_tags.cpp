#include "proxy/sources/known_tags.hpp"

#include "proxy/mirrors/image_name.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/sources/source_access.hpp"

namespace proxy::sources {

bool is_for_tag(const policy::Request& request) {
  const auto& policy = request.policy();
  const auto& target = request.target;
  if (!policy.rules.registries().any() || !target.https() || request.mapping())
    return false;  // mostly
  if (!policy.mirrored_hosts.have(target)) return false;
  const auto path = target.path();
  // A registry may authorize by the query, which no question for a digest has.
  if (path.find('?') != path.npos) return false;
  const auto part = mirrors::ImagePart::parse(path);
  return part && part->by_tag();
}

std::string tag_question(const policy::Request& request) {
  auto question = "tag " + request.target.url();
  for (const auto& line : request.head.fields) {
    if (line.id == http::field::accept) (question += '\n') += line.value;
  }
  return question;
}

std::string last_tag_question(const policy::Request& request) {
  return "last tag " + request.target.url();
}

void aim_at_digest(policy::Request& request, const std::string& digest) {
  const auto part = mirrors::ImagePart::parse(request.target.path());
  if (!part || digest.empty()) return;
  const auto& target = request.target;
  auto url = std::string("https://").append(target.authority()).append(part->path_of(digest));
  auto by_digest = http::parse_target("GET", url);
  if (!by_digest) return;
  request.target = std::move(*by_digest);
  request.apply_site_rule();
}

std::optional<KnownTag> resolve_known_tag(const SourceAccess& access, policy::Request& request) {
  if (!is_for_tag(request)) return std::nullopt;
  const auto path = request.target.path();
  KnownTag known{std::string(path.substr(path.rfind('/') + 1)),
                 access.shared.servers.tags.find(last_tag_question(request), access.now())};
  if (known.answer) aim_at_digest(request, known.answer->text);
  return known;
}

}  // namespace proxy::sources

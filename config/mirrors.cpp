#include <string>

#include "config/sections.hpp"

namespace config {

namespace {

constexpr std::string_view kHostForm =
    "a host like \"www.example.com\" or \"*.example.com\", perhaps with a port";
constexpr std::size_t kMostAuthorities = 64;  // the system's certificates are read for each

// Whoever may use such a path has this proxy ask the host, so all hosts, or all hosts of a
// top-level domain, are no choice.
std::optional<HostSpec> parse_mirrored(const std::string& text) {
  auto host = parse_host_pattern(text);
  const bool is_wild = host && host->host.starts_with('*');
  if (is_wild && host->host.find('.', 2) == std::string::npos) return std::nullopt;
  return host;
}

void read_authorities(Section& in, std::vector<HostCertificates>& ca) {
  const auto found = in.find("ca");
  if (!found) return;
  const auto* all = std::get_if<Object>(&found->value->content);
  if (!all || all->size() > kMostAuthorities) {
    return in.expected(*found, "an object with at most 64 hosts, each with the path of a file");
  }
  for (const Member& member : *all) {
    const LocatedValue value{&member.value, path_of(found->path, member.key)};
    const auto host = parse_mirrored(member.key);
    const bool is_host = host && !host->port;
    if (!is_host) in.fault(value, "is no host like \"www.example.com\" or \"*.example.com\"");
    const auto file = in.parsed(value, "the path of a file of certificates (PEM)", plain_text);
    if (is_host && file) ca.push_back({host->host, *file});
  }
}

}  // namespace

void read_mirrors(Section& in, MirrorSettings& mirrors) {
  in.read_texts("hosts", {"hosts, such as \"*.example.com\"", 256}, mirrors.hosts, kHostForm,
                parse_mirrored);
  read_authorities(in, mirrors.ca);
  in.read_word("share", mirrors.share,
               {{"anonymous", MirrorShare::anonymous}, {"none", MirrorShare::none}});
}

}  // namespace config

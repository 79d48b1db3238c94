// Lines of access, and what an import makes of them.
#pragma once

#include "tests/proxy/command/squid/given_files.hpp"

namespace proxy::command::squid {

inline constexpr std::string_view kAcls =
    "acl lan src 10.0.0.0/8\n"
    "acl lab src 10.7.0.0/16\n"
    "acl named src host.example\n"
    "acl site dstdomain .site.example\n"
    "acl page dstdomain page.site.example\n"
    "acl inside dst 192.168.0.0/16\n"
    "acl ssl port 443 8443\n"
    "acl web port 80 443\n"
    "acl day time MTWHF 08:00-18:00\n"
    "acl bot browser bot\n"
    "acl get method GET HEAD\n"
    "acl ftp proto FTP\n"
    "acl http proto HTTP\n"
    "acl known proxy_auth REQUIRED\n"
    "acl anna proxy_auth anna\n"
    "acl purge method PURGE\n";

inline constexpr std::string_view kUsers =
    "auth_param basic program /x/basic_ncsa_auth /etc/passwd\n";

// The value of "access", without what is the same each time.
inline std::string short_form(const Import& import) {
  const std::string all = settings_of(import);
  const auto begin = all.find("\"access\":{") + 10;
  std::string access = all.substr(begin, all.rfind('}', all.size() - 2) - begin);
  for (const std::string_view same : {",\"monitor\":[\"loopback\"]", ",\"admin\":[]",
                                      "\"action\":", ",\"connect_ports\":[\"1-65535\"]"}) {
    for (auto at = access.find(same); at != access.npos; at = access.find(same)) {
      access.erase(at, same.size());
    }
  }
  return access;
}

inline std::string access(std::string_view lines, std::string_view before = "") {
  return short_form(imported(std::string(kAcls) + std::string(before) + std::string(lines)));
}

struct AccessCase {
  std::string_view lines, access;
};

}  // namespace proxy::command::squid

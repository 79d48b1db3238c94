#include "proxy/sandbox/grants.hpp"

#include <openssl/x509.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "config/load.hpp"
#include "proxy/machine/shared_folders.hpp"

namespace proxy::sandbox {
namespace {

using machine::is_shared;
using std::filesystem::path;

// Read by the C library, c-ares and OpenSSL wherever the program runs.
constexpr const char* kAnywhere[] = {
    "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services",
    "/etc/protocols", "/etc/localtime", "/etc/ld.so.cache", "/etc/ssl/openssl.cnf",
    // The certificates of the system are links to files here.
    "/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
    // glibc loads modules for name resolution when it needs them.
    "/lib", "/lib64", "/usr/lib", "/usr/share/zoneinfo", "/dev/null", "/dev/urandom", "/dev/random",
    // The allocator may read the first, to know whether memory can be promised. The second tells
    // the number of cores.
    "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu/online"};

// Each may name files, separated by colons.
constexpr const char* kVariables[] = {"SSL_CERT_DIR", "OPENSSL_CONF", "HOSTALIASES"};

// Symbolic links are resolved as far as the path exists.
path resolved(const path& named) {
  std::error_code error;
  const path absolute = std::filesystem::absolute(named, error);
  if (error) return named;
  path real = std::filesystem::weakly_canonical(absolute, error);
  if (error) return absolute;
  return real.has_filename() ? real : real.parent_path();  // without a final slash
}

Grant around(const path& named, Use use) {
  const path real = resolved(named);
  if (is_shared(real.parent_path())) {
    if (use == Use::read) return {real, use};
    return {real, use, use == Use::append ? Make::file : Make::folder};
  }
  return {real.parent_path(), use};
}

// A log or a cache whose folder is missing may get it later, in the nearest folder above. If others
// keep files there, the folder is made now, since the sandbox could not grant it later.
Grant for_writing(const path& named, Use use) {
  Grant grant = around(named, use);
  std::error_code error;
  if (grant.make != Make::nothing || std::filesystem::exists(grant.path, error)) return grant;
  auto above = machine::own_folder_above(grant.path);
  if (above.empty()) return {grant.path, use, Make::folder};
  grant.path = std::move(above);
  return grant;
}

void add_listed(std::vector<Grant>& grants, std::string_view names) {
  while (!names.empty()) {
    const auto end = std::min(names.find(':'), names.size());
    if (end > 0) grants.push_back({resolved(path(names.substr(0, end)))});
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

void add_for_settings(std::vector<Grant>& grants, const config::Settings& settings) {
  for (const auto& file : settings.included) grants.push_back(around(file, Use::read));
  for (const auto& list : settings.access.block) grants.push_back(around(list, Use::read));
  for (const auto& list : settings.access.allow) grants.push_back(around(list, Use::read));
  if (const auto& users = settings.access.users) grants.push_back(around(users->file, Use::read));
  if (!settings.pages.empty()) grants.push_back({resolved(settings.pages), Use::read});
  for (const auto& mapping : settings.reverse) {
    if (!mapping.known.empty()) grants.push_back(around(mapping.known, Use::read));
  }
  if (settings.log.access == config::LogTarget::file) {
    grants.push_back(for_writing(settings.log.path, Use::append));
  }
  const auto control = config::control_path(settings);
  const auto folder = resolved(control).parent_path();
  if (!control.empty() && !is_shared(folder)) grants.push_back({folder, Use::remove});
  if (const auto& disk = settings.cache.disk) {
    grants.push_back(for_writing(disk->path, Use::store));
  }
}

void add_for_libraries(std::vector<Grant>& grants) {
  for (const char* const name : kAnywhere) grants.push_back({name});
  if (::geteuid() != 0) grants.push_back({"/etc"});
  // A link on many systems, to a file in /run that is replaced when the network changes.
  grants.push_back(around("/etc/resolv.conf", Use::read));
  add_listed(grants, X509_get_default_cert_file());
  add_listed(grants, X509_get_default_cert_dir());
  // Read again, perhaps as a new file, when the settings are.
  const char* const trusted = std::getenv("SSL_CERT_FILE");
  if (trusted && *trusted != '\0') grants.push_back(around(trusted, Use::read));
  for (const char* const variable : kVariables) {
    const char* const names = std::getenv(variable);
    if (names) add_listed(grants, names);
  }
}

}  // namespace

std::vector<Grant> grants_for(const config::Settings& settings, const path& settings_file) {
  std::vector<Grant> grants{around(settings_file, Use::read)};
  add_for_settings(grants, settings);
  add_for_libraries(grants);
  return grants;
}

}  // namespace proxy::sandbox

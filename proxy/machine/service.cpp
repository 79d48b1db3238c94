#include "proxy/machine/service.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "config/load.hpp"
#include "config/text.hpp"
#include "proxy/machine/folders.hpp"

namespace proxy::machine {
namespace {

using config::take_until;

// Of a variable; 0 if it has no number.
std::uint64_t number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  std::uint64_t number = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

std::optional<std::chrono::microseconds> watchdog_of_environment() {
  const auto process = number_in("WATCHDOG_PID");
  if (process != 0 && process != static_cast<std::uint64_t>(::getpid())) return std::nullopt;
  const auto every = number_in("WATCHDOG_USEC");
  if (every == 0) return std::nullopt;
  return std::chrono::microseconds(every);
}

namespace fs = std::filesystem;

// systemctl and not D-Bus: no library for one question. It may hang with its service manager.
constexpr const char* kAsk =
    "timeout 5 systemctl show hearsay.service -p LoadState -p User -p ExecStart -p ProtectSystem "
    "-p ProtectHome -p PrivateTmp -p ReadOnlyPaths -p InaccessiblePaths -p ReadWritePaths "
    "-p BindPaths -p CacheDirectory -p LogsDirectory -p StateDirectory -p RuntimeDirectory "
    "-p AmbientCapabilities 2>/dev/null && "
    "timeout 5 systemctl show hearsay.socket -p ActiveState 2>/dev/null";

using Shown = std::map<std::string, std::string, std::less<>>;

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    if (const auto word = take_until(text, ' '); !word.empty()) words.push_back(word);
  }
  return words;
}

// The innermost folder decides, and of folders with one path the last.
class UnitReader {
 public:
  explicit UnitReader(const Shown& shown) : shown_(shown) {}

  [[nodiscard]] std::string_view of(std::string_view property) const {
    const auto found = shown_.find(property);
    return found == shown_.end() ? std::string_view() : found->second;
  }

  std::vector<ServiceUnit::Folder> folders() {
    protect_system(of("ProtectSystem"));
    const auto home = of("ProtectHome");
    if (!home.empty() && home != "no") add({"/home", "/root", "/run/user"}, false);
    if (of("PrivateTmp") == "yes") add({"/tmp", "/var/tmp"}, true);
    for (const char* property : {"ReadOnlyPaths", "InaccessiblePaths"}) add_listed(property, false);
    for (const char* property : {"ReadWritePaths", "BindPaths"}) add_listed(property, true);
    add_made("CacheDirectory", "/var/cache/");
    add_made("LogsDirectory", "/var/log/");
    add_made("StateDirectory", "/var/lib/");
    add_made("RuntimeDirectory", "/run/");
    return std::move(folders_);
  }

  // "{ path=... ; argv[]=/usr/bin/hearsay serve --config FILE ; ... }"
  [[nodiscard]] std::string settings() const {
    auto command = of("ExecStart");
    const auto begin = command.find("argv[]=");
    if (begin == command.npos) return {};
    command.remove_prefix(begin);
    const auto words = words_of(command.substr(0, command.find(" ;")));
    constexpr std::string_view kOption = "--config";
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == kOption && i + 1 < words.size()) return std::string(words[i + 1]);
      if (words[i].starts_with("--config="))
        return std::string(words[i].substr(kOption.size() + 1));
    }
    return config::kDefaultSettings;
  }

 private:
  void add(std::initializer_list<const char*> paths, bool is_writable) {
    for (const char* path : paths) folders_.push_back({path, is_writable, false});
  }

  void protect_system(std::string_view how) {
    if (how == "strict") {
      add({"/"}, false);
      return add({"/dev", "/proc", "/sys"}, true);
    }
    if (how == "yes" || how == "full") add({"/usr", "/boot", "/efi"}, false);
    if (how == "full") add({"/etc"}, false);
  }

  // "-/a" need not exist, "+/a" is below the root folder of the service, "/a:/b" appears as /b.
  void add_listed(std::string_view property, bool is_writable) {
    for (auto word : words_of(of(property))) {
      word.remove_prefix(std::min(word.find('/'), word.size()));
      const auto source = take_until(word, ':');
      const auto shown_as = take_until(word, ':');
      const auto path = shown_as.empty() ? source : shown_as;
      if (!path.empty()) folders_.push_back({path, is_writable, false});
    }
  }

  void add_made(std::string_view property, const std::string& above) {
    for (auto word : words_of(of(property))) {
      folders_.push_back({above + std::string(take_until(word, ':')), true, true});
    }
  }

  const Shown& shown_;
  std::vector<ServiceUnit::Folder> folders_;
};

// Links are followed as far as the path exists.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  auto real = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path.lexically_normal() : real;
}

bool is_within(const fs::path& path, const fs::path& folder) {
  const auto below = path.lexically_relative(folder);
  return !below.empty() && *below.begin() != "..";
}

}  // namespace

Supervisor Supervisor::of_environment() {
  own_service();
  return Supervisor(std::getenv("NOTIFY_SOCKET"));
}

// A path that begins with @ is a name in the abstract name space, without that character.
Supervisor::Supervisor(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto length = path != nullptr ? std::strlen(path) : 0;
  if (length < 2 || length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';  // unix(7)
  // The length counts: zeros after an abstract name would be a part of it.
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return;
  socket_ = std::move(socket);
  watchdog_ = watchdog_of_environment();
}

void Supervisor::send(std::string_view state) const {
  if (!socket_) return;
  ::send(socket_.number(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Supervisor::serving() const {
  send("READY=1\nMAINPID=" + std::to_string(::getpid()) + "\nSTATUS=Serving");
}

void Supervisor::reloading(Clock::SteadyTime now) const {
  const auto since_boot = now.time_since_epoch();  // of CLOCK_MONOTONIC in libstdc++, too
  send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                   std::chrono::floor<std::chrono::microseconds>(since_boot).count()));
}

void Supervisor::reloaded() const {
  send("READY=1");
}

void Supervisor::stopping() const {
  send("STOPPING=1\nSTATUS=Waiting for responses under way");
}

void Supervisor::alive() const {
  send("WATCHDOG=1");
}

bool ServiceUnit::serves_by(const fs::path& settings_file) const {
  return !settings.empty() && resolved(settings) == resolved(settings_file);
}

const ServiceUnit::Folder* ServiceUnit::folder_around(const fs::path& path) const {
  const Folder* found = nullptr;
  const auto real = resolved(path);
  // "ReadWritePaths" within a read-only folder wins, so the innermost counts (systemd.exec(5)).
  for (const Folder& folder : folders) {
    if (!is_within(real, resolved(folder.path))) continue;
    if (!found || is_within(resolved(folder.path), resolved(found->path))) found = &folder;
  }
  return found;
}

bool ServiceUnit::lets_write(const fs::path& path) const {
  const Folder* const folder = folder_around(path);
  return !folder || folder->is_writable;
}

bool ServiceUnit::makes(const fs::path& path) const {
  const Folder* const folder = folder_around(path);
  if (!folder || !folder->is_made) return false;
  const auto real = resolved(path);
  return real == resolved(folder->path) || real.parent_path() == resolved(folder->path);
}

std::optional<ServiceUnit> parse_unit(std::string_view text) {
  Shown shown;
  while (!text.empty()) {
    auto line = take_until(text, '\n');
    const auto property = take_until(line, '=');
    shown[std::string(property)] = line;
  }
  UnitReader reader(shown);
  if (reader.of("LoadState") != "loaded") return std::nullopt;
  ServiceUnit unit;
  unit.user = reader.of("User");
  unit.settings = reader.settings();
  unit.folders = reader.folders();
  unit.has_socket = reader.of("ActiveState") == "active";
  unit.may_bind_any =
      unit.user.empty() || unit.user == "root" ||
      reader.of("AmbientCapabilities").find("cap_net_bind_service") != std::string_view::npos;
  return unit;
}

std::optional<ServiceUnit> service_unit() {
  constexpr std::size_t kLongest = 256 * 1024;
  const std::unique_ptr<FILE, int (*)(FILE*)> answer(::popen(kAsk, "re"), &::pclose);
  if (!answer) return std::nullopt;
  std::string text;
  std::array<char, 4096> part{};
  while (text.size() < kLongest) {
    const auto read = std::fread(part.data(), 1, part.size(), answer.get());
    if (read == 0) break;
    text.append(part.data(), read);
  }
  return parse_unit(text);
}

}  // namespace proxy::machine

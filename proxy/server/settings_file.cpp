#include "proxy/server/settings_file.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "config/counted.hpp"
#include "config/settings.hpp"
#include "proxy/lists/read.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/upstream/guard.hpp"

namespace proxy::server {
namespace {

// A line that is no entry is worth only a warning.
void warn_of(const lists::Skipped& skipped) {
  spdlog::warn("{}, line {}: {} is no host, address or URL prefix; {}", skipped.path, skipped.first,
               skipped.text,
               config::counted(skipped.lines, "such line is passed over: mend it, or take it out",
                               "such lines are passed over: mend them, or take them out"));
}

boost::system::result<lists::AccessLists, config::SettingsErrors> read_lists_of(
    const config::AccessSettings& access, const machine::Clock& clock) {
  const auto begun = clock.steady();
  auto lists = lists::read_lists(access, warn_of);
  if (!lists) return lists.error();
  if (!access.lists.block.empty() || !access.lists.allow.empty()) {
    const std::chrono::duration<double> took = clock.steady() - begun;
    spdlog::info("lists block {} and allow {}; read in {:.1f} s, {} MiB",
                 config::counted(lists->block().entries(), "entry", "entries"),
                 lists->allow().entries(), took.count(),
                 (lists->block().bytes() + lists->allow().bytes()) >> 20);
  }
  return lists;
}

using Users = std::shared_ptr<const users::PasswordFile>;

boost::system::result<Users, config::SettingsErrors> read_users_of(
    const config::AccessSettings& access) {
  if (!access.users) return Users();
  auto file = users::PasswordFile::read(access.users->file);
  if (!file) return file.error();
  return std::make_shared<const users::PasswordFile>(std::move(*file));
}

// One list of neighbours may serve all members of a site. The entry that names us by an address is
// known before any poll; by another name, our answer to a poll tells (peers/exchange.hpp).
void leave_out_ourselves(config::Settings& settings) {
  std::vector<net::tcp::endpoint> sockets;
  for (const auto& own : settings.process.listen) {
    sockets.emplace_back(net::asio::ip::make_address(own.host), own.port);
  }
  const upstream::Guard guard(settings.access, std::move(sockets));
  std::erase_if(settings.peers, [&](const config::PeerSettings& peer) {
    const config::HostPort at{peer.host, peer.port};
    return guard.names_own_socket(peer.host, peer.port) ||
           std::any_of(settings.process.listen.begin(), settings.process.listen.end(),
                       [&](const auto& own) { return config::is_ourselves(at, own); });
  });
}

}  // namespace

boost::system::result<config::Settings, config::SettingsErrors> SettingsFile::read_settings()
    const {
  auto settings = config::load_file(path_);
  if (settings) leave_out_ourselves(*settings);
  if (settings && memory_) machine::fit_defaults(*settings, *memory_);
  return settings;
}

boost::system::result<policy::PinnedPolicy, config::SettingsErrors> SettingsFile::policy_of(
    config::Settings settings, const policy::Policy* before) const {
  auto lists = read_lists_of(settings.access, clock_);
  if (!lists) return lists.error();
  auto users = read_users_of(settings.access);
  if (!users) return users.error();
  auto pages = policy::ErrorPages::read(settings.pages.folder);
  if (!pages) return pages.error();
  try {
    return std::make_shared<const policy::Policy>(std::move(settings), std::move(*lists), before,
                                                  std::move(*users), std::move(*pages));
  } catch (const std::runtime_error& error) {
    return config::SettingsErrors{{path_, error.what()}};
  }
}

boost::system::result<SettingsFile::Reread, config::SettingsErrors> SettingsFile::read_again(
    const policy::Policy& before) const {
  auto settings = read_settings();
  if (!settings) return settings.error();
  // Before keep_until_restart(), which makes the settings that need a restart equal.
  auto waiting = config::needing_restart(before.settings, *settings);
  // So that what is in force and what the pages show of it is one thing.
  config::keep_until_restart(before.settings, *settings);
  auto policy = policy_of(std::move(*settings), &before);
  if (!policy) return policy.error();
  return Reread{std::move(*policy), std::move(waiting)};
}

}  // namespace proxy::server

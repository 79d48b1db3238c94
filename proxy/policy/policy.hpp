// The operator's settings for requests, as one value that is replaced as a whole.
#pragma once

#include <chrono>
#include <memory>

#include "config/settings.hpp"
#include "peers/directory.hpp"
#include "proxy/lists/access_lists.hpp"
#include "proxy/mirrors/mirrored_url.hpp"
#include "proxy/policy/access_rules.hpp"
#include "proxy/policy/error_pages.hpp"
#include "proxy/policy/gateway.hpp"
#include "proxy/policy/routes.hpp"
#include "proxy/policy/site_rules.hpp"
#include "proxy/upstream/failure.hpp"
#include "proxy/upstream/tls.hpp"
#include "proxy/users/password_file.hpp"

namespace proxy::policy {

// Immutable: any thread. A request pins the policy that is in force when it begins, and a fill
// keeps the pin of the request that began it. Live state is shared with the policies before and
// after: which origins rest, the neighbours' digests, and the records of their claims.
//
// Settings that are read only at start: those of config::needing_restart(). Settings that follow
// the newest policy at once, because connections outlive requests: limits; timeouts.body,
// keep_alive and unreachable; access.deny_to and the lists, when an address is connected to. A
// request takes every other setting from the policy that it pinned.
struct Policy {
  // `before`: the policy that this one replaces. A mapping whose origins are the same keeps their
  // live state. A neighbour that stays keeps its own (PeerDirectory). Throws
  // std::runtime_error with the place in the settings. `users`: of the file that the settings name;
  // null: they name none. `pages`: those of the folder that they name.
  Policy(config::Settings told, lists::AccessLists listed, const Policy* before = nullptr,
         std::shared_ptr<const users::PasswordFile> users = nullptr, ErrorPages pages = {});

  // How long past its freshness lifetime a stored response may answer after this failure. Zero
  // unless the origin is out of reach.
  [[nodiscard]] std::chrono::seconds leave_after(const upstream::Failure& failure) const;
  // The same for an answer of 429 or 5xx (cache::is_error_to_stand_in_for()) from this URL's
  // origin. Zero unless its host is mirrored: whoever mirrors it has agreed to a stale response
  // instead of none, as RFC 9111 4.2.4 demands.
  [[nodiscard]] std::chrono::seconds leave_after_error_of(const http::Target& url) const;
  // Whether the log names all sources that were asked for a response.
  [[nodiscard]] bool lists_inquiries() const {
    return settings.log.access != config::LogTarget::none &&
           settings.log.format == config::LogFormat::json;
  }

  const config::Settings settings;
  const AccessRules access_rules;
  // Whether a client may choose the origin (setting `forward`).
  const bool serves_forward;
  const lists::AccessLists lists;
  const std::shared_ptr<const users::PasswordFile> users;  // null: no rule names users
  const ErrorPages error_pages;
  const SiteRules rules;
  const Gateway gateway;
  const mirrors::MirroredHosts mirrored_hosts;  // those of mirrors.hosts and of the recipes
  const std::shared_ptr<const upstream::HostTrust> trust;  // setting mirrors.ca
  const std::shared_ptr<peers::PeerDirectory> directory;
  const Routes routes;
};

using PinnedPolicy = std::shared_ptr<const Policy>;

}  // namespace proxy::policy

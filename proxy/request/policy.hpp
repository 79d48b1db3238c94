// What the operator's settings say of requests: one value, replaced as a whole.
#pragma once

#include <chrono>
#include <memory>

#include "config/settings.hpp"
#include "peers/directory.hpp"
#include "proxy/lists/access_lists.hpp"
#include "proxy/request/gateway.hpp"
#include "proxy/request/site_rules.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy {

// Immutable: any thread. A request pins the policy that is in force when it begins, and a fill
// keeps the pin of the request that began it. What is live is shared with the policies before and
// after: which origins rest, the neighbours' digests and the books on them.
//
// Of `settings`, these are taken once, when the process starts, and never from here again: name,
// listen, threads, log, the sizes and the disk of cache, and of digest all but squid_pause and
// false_miss_sample. A thread's connections outlive requests, so that these follow the newest
// policy at once: limits, access.deny_to and the lists where an address is connected to, and
// timeouts.body, keep_alive and unreachable. Everything else holds as the request's pin says.
struct Policy {
  // `before`: the policy that this one replaces. Its live state stays where the origins, or the
  // neighbours, are the same. Throws std::runtime_error with the place in the settings.
  Policy(config::Settings told, lists::AccessLists listed, const Policy* before = nullptr);

  // How long past its freshness a stored response may answer after this failure: not at all unless
  // the origin is out of reach.
  [[nodiscard]] std::chrono::seconds leave_after(const Failure& failure) const;

  const config::Settings settings;
  const lists::AccessLists lists;
  const SiteRules rules;
  const Gateway gateway;
  const std::shared_ptr<peers::PeerDirectory> directory;
};

using PinnedPolicy = std::shared_ptr<const Policy>;

}  // namespace proxy

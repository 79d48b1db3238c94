// What a search for a source needs to know, in time that stands, without a process around it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "proxy/sources/claimant_search.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/source_access.hpp"
#include "proxy/upstream/outgoing.hpp"
#include "tests/peers/listed_holdings.hpp"
#include "tests/peers/samples.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/proxy/policy/requests.hpp"

namespace proxy::sources {

struct SearchScene {
  explicit SearchScene(config::Settings told, const std::string& url = "http://origin.test/x")
      : policy(std::make_shared<const policy::Policy>(std::move(told), lists::AccessLists{})),
        request("", "GET " + url + " HTTP/1.1"),
        outgoing({.executor = io.get_executor(),
                  .deadlines = deadlines,
                  .buffers = buffers,
                  .clock = clock,
                  .shared = shared,
                  .listening = listening},
                 {}) {
    request.parsed->pin(policy);
    outgoing.follow(policy->settings, policy->lists);
  }

  [[nodiscard]] peers::SteadyTime now() const { return clock.steady(); }
  [[nodiscard]] peers::PeerDirectory& directory() const { return *policy->directory; }
  [[nodiscard]] const peers::PeerRef& peer(std::size_t id) const { return directory().peers()[id]; }
  // The neighbour's digest claims our key, or nothing.
  void poll(std::size_t id, bool claims, peers::Epoch epoch) const {
    auto report = peers::samples::report_of({}, now());
    auto digest = claims ? peers::samples::native_of({"x"}) : peers::samples::native_of({});
    digest.epoch = epoch;
    report.identity.learn_epoch_of_digest(epoch);
    report.claims = peers::Claims(std::move(digest));
    directory().update(id, std::move(report));
  }
  // The neighbour has answered in this time, often.
  void know(std::size_t id, std::chrono::microseconds takes) const {
    for (int i = 0; i < 100; ++i)
      peer(id)->accuracy.record({peers::ClaimOutcome::true_hit, takes}, now());
  }
  void know_origin(std::chrono::microseconds takes) {
    const auto origin = origin_of((*request).target, policy->lists);
    for (int i = 0; i < 100; ++i) access.origin_times.record(origin, takes, now());
  }

  // Whom the plan would ask, as "b; try c; reserve d", or "site b".
  [[nodiscard]] std::string plan_for(const ClaimantSearch::For& wanted) {
    peers::Claimants claimants;
    if (wanted.allowed.neighbours()) claimants = directory().claimants(wanted.key, now());
    const auto given = ClaimantSearch::given_for(access, wanted, std::move(claimants), now());
    std::string told;
    for (const auto& one : directory().peers()) {
      const auto place = given.candidates.place_of(one);
      if (!place) continue;
      if (!told.empty()) told += "; ";
      if (given.candidates.lead() == Lead::site) told += "site ";
      if (*place == Ask::on_trial) told += "try ";
      if (*place == Ask::no) told += "reserve ";
      told += one->name;
    }
    return told;
  }
  [[nodiscard]] ClaimantSearch::For wanted() const {
    return {.key = key, .request = *request, .allowed = {.guests = true}};
  }

  const digest::Key key = peers::samples::key("x");
  const policy::PinnedPolicy policy;
  policy::TextRequest request;
  machine::Clock clock{cache::kStart};
  net::asio::io_context io{1};
  net::Deadlines deadlines{io.get_executor(), &clock};
  net::BufferPool buffers;
  upstream::TlsClient tls;
  upstream::Shared shared{tls, clock};
  const std::vector<net::tcp::endpoint> listening;
  upstream::Outgoing outgoing;
  cache::Budget budget{64 << 20};
  cache::Store store{budget};
  fill::Fills fills;
  tiers::Tiers tiers{
      .clock = clock, .budget = budget, .store = store, .fills = fills, .aside = io.get_executor()};
  tiers::Cache cache{tiers};
  tiers::CacheAccess tiers_access{cache, io.get_executor()};
  const std::string name = "us";
  peers::samples::ListedHoldings holdings;
  peers::Publisher publisher{holdings, config::DigestSettings(), cache::kStart};
  fill::SiteFetches site_fetches;
  observe::Count second_questions;
  SourceAccess access{.shared = {name, publisher, site_fetches, shared.clocks, shared.names},
                      .cache = tiers_access,
                      .upstream = outgoing.upstream,
                      .guard = outgoing.guard,
                      .resolver = outgoing.resolver,
                      .executor = io.get_executor(),
                      .second_questions = second_questions};
};

inline config::Settings settings_with(std::vector<std::string> names) {
  config::Settings settings;
  std::uint16_t port = 3128;
  for (const auto& name : names) settings.peers.push_back(peers::samples::peer(name, port++));
  return settings;
}

}  // namespace proxy::sources

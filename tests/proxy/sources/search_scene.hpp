// What a search for a source needs to know, in time that stands, without a process around it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proxy/sources/claimant_search.hpp"
#include "proxy/sources/origin.hpp"
#include "tests/peers/samples.hpp"
#include "tests/proxy/thread_scene.hpp"

namespace proxy::sources {

struct SearchScene : ThreadScene {
  explicit SearchScene(config::Settings told, const std::string& url = "http://origin.test/x")
      : ThreadScene(std::move(told), {}, SceneTime::stands_for_timeouts),
        request("", "GET " + url + " HTTP/1.1") {
    request.parsed->pin(policy);
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
    for (int i = 0; i < 100; ++i) sources.origin_times.record(origin, takes, now());
  }

  // Whom the plan would ask, as "b; try c; reserve d", or "site b".
  [[nodiscard]] std::string plan_for(const ClaimantSearch::For& wanted) {
    peers::Claimants claimants;
    if (wanted.allowed.neighbours()) claimants = directory().claimants(wanted.key, now());
    const auto given = ClaimantSearch::given_for(sources, wanted, std::move(claimants), now());
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
    return {.key = key, .request = *request, .allowed = {.only_origin = {}, .guests = true}};
  }

  const digest::Key key = peers::samples::key("x");
  policy::TextRequest request;
};

inline config::Settings settings_with(std::vector<std::string> names) {
  config::Settings settings;
  std::uint16_t port = 3128;
  for (const auto& name : names) settings.peers.push_back(peers::samples::peer(name, port++));
  return settings;
}

}  // namespace proxy::sources

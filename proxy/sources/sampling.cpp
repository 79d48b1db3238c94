#include "proxy/sources/sampling.hpp"

#include <spdlog/spdlog.h>

#include "proxy/sources/neighbour.hpp"
#include "proxy/sources/source_access.hpp"

namespace proxy {

using net::Task;

namespace {

Task<void> probe(SourceAccess& access, Attempt attempt) {
  const Probes::Running running(access.probes);
  const auto& peer = attempt.peer();
  try {
    const auto answered = co_await attempt.ask();
    if (!answered) co_return;
    const auto held = says_it_holds(attempt.head());
    if (held) peer->accuracy.probed();
    if (held && *held) peer->accuracy.missed();
  } catch (const std::exception& bug) {
    spdlog::error("a question to {} failed inside this proxy: {}", peer->name, bug.what());
  }
}

}  // namespace

void sample_false_miss(SourceAccess& access, const digest::Key& key, const Request& request) {
  auto& probes = access.probes;
  if (!probes.chosen(request.policy().settings.digest.false_miss_sample) || probes.full()) return;
  const auto now = std::chrono::steady_clock::now();
  const auto number = static_cast<std::uint32_t>(probes.random());
  const auto rule = digest::mark_of(request.facts.rule);
  const auto peer = request.policy().directory->other_than_claimants(key, now, number, rule);
  if (!peer || !request.policy().routes.may_ask(peer->id, request.target)) return;
  net::spawn(access.executor, probe(access, probe_of(access, peer, request)));
}

std::optional<bool> says_it_holds(const http::ResponseHead& answer) {
  const auto finding = heard_in(answer, {});
  if (finding.worth == Worth::holds) return true;
  const bool says_no = finding.worth == Worth::false_hit;
  if (!says_no || finding.cause == peers::FalseHit::refused) return std::nullopt;
  return false;
}

}  // namespace proxy

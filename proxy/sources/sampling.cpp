#include "proxy/sources/sampling.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/detached.hpp>

#include "proxy/sources/false_hit.hpp"
#include "proxy/sources/upstream_request.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

using net::Task;

namespace {

class Running {
 public:
  explicit Running(Sampling& sampling) : sampling_(sampling) { ++sampling_.running; }
  ~Running() { --sampling_.running; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Sampling& sampling_;
};

Task<void> probe(Worker& worker, peers::PeerRef peer, FetchPlan plan) {
  const Running running(worker.sampling);
  try {
    Fetch fetch(worker.outgoing.upstream, std::move(plan));
    const auto sent = co_await fetch.start();
    if (!sent) co_return;
    const auto head = co_await fetch.response();
    if (!head) co_return;
    if (const auto held = says_it_holds(**head)) peer->accuracy.probed(*held);
  } catch (const std::exception& bug) {
    spdlog::error("a question to {} failed inside this proxy: {}", peer->name, bug.what());
  }
}

bool chosen(Sampling& sampling, double share) {
  return std::uniform_real_distribution<double>()(sampling.random) < share;
}

}  // namespace

void sample_false_miss(Worker& worker, const digest::Key& key, const Request& request) {
  const auto& process = worker.process;
  auto& sampling = worker.sampling;
  if (!chosen(sampling, request.policy().settings.digest.false_miss_sample)) return;
  if (sampling.running >= Sampling::kMostAtOnce) return;
  const auto now = std::chrono::steady_clock::now();
  const auto number = static_cast<std::uint32_t>(sampling.random());
  auto peer = request.policy().directory->other_than_claimants(key, now, number);
  if (!peer) return;
  FetchPlan plan{.to = {false, peer->host, peer->port, upstream::Trust::configured},
                 .head = sibling_request(request, process.name, {}, "HEAD"),
                 .method = "HEAD",
                 .repeatable = false,  // a connection of its own, closed after the head
                 .connect = request.policy().settings.timeouts.peer_connect,
                 .first_byte = request.policy().settings.timeouts.peer_first_byte};
  net::asio::co_spawn(worker.io.get_executor(), probe(worker, std::move(peer), std::move(plan)),
                      net::asio::detached);
}

std::optional<bool> says_it_holds(const http::ResponseHead& answer) {
  if (answer.status == 200) return true;
  const bool says_no = answer.status == 504 || answer.status == 502;  // Squid says either
  if (!says_no || cause_of(answer) == peers::FalseHit::refused) return std::nullopt;
  return false;
}

}  // namespace proxy

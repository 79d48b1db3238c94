// One source asked for one response: the request, the connection, the head of the answer.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "peers/peer.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/fill/fill.hpp"
#include "proxy/observe/request_record.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy {

struct Request;
struct Worker;

// Asks once: ask(), then the body from fetch(). Moved while no wait of it is under way; two
// attempts may wait at once. Dropping an attempt closes its connection. Belongs to one thread,
// whose worker outlives it.
class Attempt {
 public:
  using Steady = std::chrono::steady_clock;
  using OnInterim = std::function<void(const http::ResponseHead&)>;

  // Of the origin, or of a neighbour if `peer` is set.
  Attempt(Worker& worker, FetchPlan plan, peers::PeerRef peer = nullptr);

  // Sends the request and waits for the head of the final answer. An origin's interim heads other
  // than 100 are given to `interim`, if there is one; more than 32 of them are a failure, and so is
  // any of a sibling, which sends at once what it holds.
  net::Task<Outcome<void>> ask(OnInterim interim = nullptr);
  // Lets a wait for the source fail soon; from outside the coroutine that waits.
  void abandon() { fetch_->abandon(); }

  // What came, once ask() has succeeded.
  [[nodiscard]] const http::ResponseHead& head() const { return fetch_->head(); }
  [[nodiscard]] std::optional<std::uint64_t> length() const;  // of the body, where it is told
  [[nodiscard]] Fetch& fetch() { return *fetch_; }
  // The answer as the store takes it in. `url`: canonical. Refers to all three.
  [[nodiscard]] cache::Received received(const Request& request, std::string_view url) const;

  [[nodiscard]] const peers::PeerRef& peer() const { return peer_; }  // null: the origin
  [[nodiscard]] cache::SourceKind source() const;
  [[nodiscard]] Hierarchy hierarchy() const;
  // The source's name, and the status if an origin has answered.
  [[nodiscard]] Provenance provenance() const;
  [[nodiscard]] const cache::Times& times() const { return times_; }
  [[nodiscard]] Steady::time_point begun() const { return begun_; }  // before it was asked
  // From the request to the head, or to the failure.
  [[nodiscard]] std::chrono::microseconds waited() const { return waited_; }

 private:
  net::Task<Outcome<void>> final_head(OnInterim interim);

  Worker* worker_;
  peers::PeerRef peer_;
  std::unique_ptr<Fetch> fetch_;
  cache::Times times_{};
  Steady::time_point begun_{};
  std::chrono::microseconds waited_{};
  bool answered_ = false;
};

}  // namespace proxy

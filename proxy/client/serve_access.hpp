// What one I/O thread needs to answer clients.
#pragma once

#include "proxy/blocks/fetch_access.hpp"
#include "proxy/crowd/crowd.hpp"
#include "proxy/net/deadlines.hpp"
#include "proxy/net/input.hpp"
#include "proxy/net/pipe.hpp"
#include "proxy/observe/observed.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/users/password_checks.hpp"

namespace proxy {

// Belongs to one I/O thread, and outlives the requests that it answers.
struct ServeAccess {
  FetchAccess& fetching;
  const PinnedPolicy& policy;  // in force: for a request to pin when it begins
  net::Deadlines& deadlines;
  BufferPool& buffers;
  net::Pipes& pipes;
  CrowdOfThread& crowd;
  users::PasswordChecks& password_checks;  // of all threads
  Observed& observed;                      // likewise

  [[nodiscard]] Cache& cache() const { return fetching.cache(); }
  [[nodiscard]] machine::Clock& clock() const { return fetching.clock(); }
  [[nodiscard]] const net::Executor& executor() const { return fetching.executor(); }
  [[nodiscard]] const std::string& name() const { return fetching.name(); }  // of this proxy
  [[nodiscard]] ThreadCounters& counters() const { return fetching.counters; }
};

}  // namespace proxy

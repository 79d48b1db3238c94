// What one I/O thread needs to answer clients, and the client's side of one exchange.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "config/networks.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/client/response_writer.hpp"
#include "proxy/crowd/crowd.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/text.hpp"
#include "proxy/net/deadlines.hpp"
#include "proxy/net/input.hpp"
#include "proxy/net/pipe.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/observe/observed.hpp"
#include "proxy/observe/request_record.hpp"
#include "proxy/policy/caller.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/users/password_checks.hpp"

namespace proxy::client {

// What one I/O thread needs to answer clients. Outlives the requests that it answers.
struct ServeAccess {
  blocks::FetchAccess& fetching;
  const policy::PinnedPolicy& policy;  // in force: for a request to pin when it begins
  net::Deadlines& deadlines;
  net::BufferPool& buffers;
  net::Pipes& pipes;
  crowd::CrowdOfThread& crowd;
  users::PasswordChecks& password_checks;  // of all threads
  observe::Observed& observed;             // likewise

  [[nodiscard]] tiers::Cache& cache() const { return fetching.cache(); }
  [[nodiscard]] machine::Clock& clock() const { return fetching.clock(); }
  [[nodiscard]] const net::Executor& executor() const { return fetching.executor(); }
  [[nodiscard]] const std::string& name() const { return fetching.name(); }  // of this proxy
  [[nodiscard]] observe::ThreadCounters& counters() const { return fetching.counters; }
};

// A session of the client's protocol makes this, for one exchange or for several in turn. The
// objects that members refer to outlive the exchange.
struct Client {
  const ServeAccess& access;
  ResponseWriter& response;
  ResponseState& state;            // of the response
  observe::RequestRecord& record;  // of this exchange
  config::Address address;
  std::string address_text;
  const crowd::ClientTable::Guest* guest = nullptr;  // the connection as counted; null: it is not
  policy::Door door = policy::Door::network;
  crowd::BandwidthUse* bandwidth = nullptr;  // what the connection sends; null: it is not counted
  std::unique_ptr<net::Wakeup> wakeup = nullptr;  // see wake_by()
  // Whether the responses prove to the client, a neighbour, that they are ours
  // (peers::kEpochField).
  bool tells_epoch = false;
  // The registry of images that name none, if the listener has one (mirrors::Registries).
  std::string registry = {};

  // Wakes this exchange when a fill that it reads gets on. Every exchange uses the same object.
  net::Wakeup& wake_by() {
    if (!wakeup) wakeup = std::make_unique<net::Wakeup>(access.executor());
    return *wakeup;
  }
  [[nodiscard]] crowd::ClientShare* share() const { return guest ? &guest->share() : nullptr; }
};

// The body of one request. Belongs to the coroutine that answers the request.
class RequestBody : boost::noncopyable {
 public:
  // Reads at least one byte; returns how many, or 0 at the body's end. Each wait for bytes is
  // bounded by `idle`. A body that is cut or has damaged framing is an error, never an end.
  virtual net::Task<net::Result<std::size_t>> read(net::asio::mutable_buffer into,
                                                   std::chrono::milliseconds idle) = 0;
  // Whether the body has been read to its end.
  [[nodiscard]] virtual bool finished() const = 0;

 protected:
  ~RequestBody() = default;
};

// Writes the value of Cache-Status as the record tells it. Adds to the record the reason why the
// response is not stored, that its tag was resolved without the registry, and the word of the
// site's rule (SiteRule::word).
inline void write_cache_status_value(http::PieceWriter& out, const Client& client) {
  auto& record = client.record;
  auto& detail = record.told.detail;
  if (record.storability != cache::Storability::yes) {
    http::add_detail(detail, "not-stored/");
    detail += text(record.storability);
  }
  if (record.by_old_tag) http::add_detail(detail, "stale-if-error/tag");
  if (!record.rule.empty()) http::add_detail(detail, record.rule);
  http::write_cache_status(out, client.access.name(), record.told);
}

// Writes Cache-Status as a whole line of the head. A second line proves to a neighbour that the
// response is ours.
inline void write_cache_status(http::PieceWriter& out, const Client& client) {
  out << "Cache-Status: ";
  write_cache_status_value(out, client);
  out << "\r\n";
  if (client.tells_epoch)
    http::write_field(out, peers::kEpochField,
                      client.access.fetching.sources.shared.publisher.epochs());
}

}  // namespace proxy::client

// The client's side of one exchange, for the request path.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "config/networks.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/client/response_state.hpp"
#include "proxy/client/response_writer.hpp"
#include "proxy/client/serve_access.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/text.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/observe/request_record.hpp"
#include "proxy/policy/caller.hpp"

namespace proxy {

// A session of the client's protocol makes this, for one exchange or for several in turn. The
// objects that members refer to outlive the exchange.
struct Client {
  const ServeAccess& access;
  ResponseWriter& response;
  ResponseState& state;   // of the response
  RequestRecord& record;  // of this exchange
  config::Address address;
  std::string address_text;
  const ClientTable::Guest* guest = nullptr;  // the connection as counted; null: it is not
  Door door = Door::network;
  BandwidthUse* bandwidth = nullptr;         // what the connection sends; null: it is not counted
  std::unique_ptr<Wakeup> wakeup = nullptr;  // see wake_by()
  // Whether the responses prove to the client, a neighbour, that they are ours
  // (peers::kEpochField).
  bool tells_epoch = false;

  // Wakes this exchange when a fill that it reads gets on. Every exchange uses the same object.
  Wakeup& wake_by() {
    if (!wakeup) wakeup = std::make_unique<Wakeup>(access.executor());
    return *wakeup;
  }
  [[nodiscard]] ClientShare* share() const { return guest ? &guest->share() : nullptr; }
};

// Writes the value of Cache-Status as the record tells it. Adds to the record the reason why the
// response is not stored, and the word of the site's rule (SiteRule::word).
inline void write_cache_status_value(http::PieceWriter& out, const Client& client) {
  auto& record = client.record;
  auto& detail = record.told.detail;
  if (record.storability != cache::Storability::yes) {
    http::add_detail(detail, "not-stored/");
    detail += text(record.storability);
  }
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

}  // namespace proxy

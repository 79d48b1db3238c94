// The pages of the proxy itself: what monitors and neighbours read.
#pragma once

#include <optional>

#include "proxy/client/client.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

enum class Page : std::uint8_t {
  index,
  digest,
  native_digest,
  store_digest,
  health,
  metrics,
  purge,
  cache_list,
  cache_show,
  cache_verify,
  options,
  unknown,
};

// Which of our pages the request is for; nothing if it is for another server. In reverse mode what
// is mapped is the origin's, but for two cases: /digest, /health, /metrics and all under /admin
// stay ours where the Host is an address or name of ours with our port, and so do the digests for
// neighbours, which may know us by any name, unless the host is mapped by name.
std::optional<Page> own_page(const Client& client, const Request& request);

// Whether it came by way of another proxy, as far as it says so.
bool came_through_a_proxy(const Request& request);

// Answers it, or refuses it by the settings access.monitor, access.peers and access.admin. All but
// the digests for neighbours also refuse what names another host, and all but Squid's what came
// through another proxy: a browser or a neighbour must not be used to read them.
net::Task<void> serve_own(Client& client, const Request& request, Page page, RequestBody& body);

// The JSON of /digest.
std::string digest_json(const Shared& shared);
// The text of /metrics.
std::string metrics_text(Shared& shared);

}  // namespace proxy

// Responses that this proxy makes itself: own pages and refusals.
#pragma once

#include <string>
#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"

namespace proxy {

// Returns the status line and the fields that all own responses have.
std::string own_head(const Client& client, unsigned status, std::string_view content_type,
                     const http::CacheStatus& status_said = {});

// A response of our own. The caller keeps the text that it refers to.
struct OwnAnswer {
  unsigned status = 200;
  std::string_view content_type = {};  // empty: none
  std::string_view body = {};
  std::string_view allow = {};  // the field Allow; empty: none
  http::CacheStatus cache_status = {};
};

// Sends it whole, with Cache-Control: no-store.
net::Task<void> send_own(Client& client, const OwnAnswer& answer);

}  // namespace proxy

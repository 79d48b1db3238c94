// What this proxy says in its own name.
#pragma once

#include <string>
#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"

namespace proxy {

// The status line and the fields that each of our own responses has.
std::string own_head(const Client& client, unsigned status, std::string_view content_type,
                     const http::CacheStatus& status_said = {});

// Refers to text that the caller keeps.
struct OwnAnswer {
  unsigned status = 200;
  std::string_view content_type = {};  // empty: none
  std::string_view body = {};
  std::string_view allow = {};  // the field Allow; empty: none
  http::CacheStatus cache_status = {};
};

// All of it, not to be stored by anybody.
net::Task<void> send_own(Client& client, const OwnAnswer& answer);

}  // namespace proxy

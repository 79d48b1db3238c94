// The stage of most scenarios: one origin, one proxy, one client.
#pragma once

#include "tests/support/await.hpp"
#include "tests/support/client.hpp"
#include "tests/support/proxy_process.hpp"
#include "tests/support/scripted_origin.hpp"

namespace scenario {

using namespace support;

// The proxy obeys a request to change its state, or to do expensive work, only with this field.
inline const Fields kOnPurpose{{"X-Hearsay", "1"}};

struct Scene {
  explicit Scene(const json& settings = json::object()) : proxy(settings), client(proxy.port()) {}

  ScriptedOrigin origin;
  ProxyProcess proxy;
  Client client;
};

inline Reply unstorable() {
  return Reply(200, {{"Cache-Control", "no-store"}});
}

// Bytes that differ everywhere, so that none can be lost or doubled unseen.
inline std::string numbered_bytes(std::size_t count) {
  std::string bytes;
  bytes.reserve(count + 8);
  for (std::size_t i = 0; bytes.size() < count; ++i) bytes += std::to_string(i) + ' ';
  bytes.resize(count);
  return bytes;
}

// The Cache-Status member of the proxy that the client talks to: the last one.
inline std::string nearest_cache_status(const Response& response) {
  const std::string all = response.field("Cache-Status");
  return all.substr(all.rfind(", ") == std::string::npos ? 0 : all.rfind(", ") + 2);
}

inline bool is_hit(const Response& response) {
  return contains(nearest_cache_status(response), "; hit") ||
         contains(nearest_cache_status(response), ";hit");
}

}  // namespace scenario

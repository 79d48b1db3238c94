#include "proxy/origin.hpp"

namespace proxy {

upstream::Endpoint origin_of(const http::Target& target, const lists::AccessLists& lists) {
  const auto trust =
      lists.lifts_addresses(target) ? upstream::Trust::allowed : upstream::Trust::client;
  return {target.https(), std::string(target.host()), target.port(), trust};
}

}  // namespace proxy

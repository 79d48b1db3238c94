#include "proxy/answer/hit.hpp"

namespace proxy {

using net::Task;

Task<Delivered> serve_hit(Client& client, const Request& request, const Lookup& lookup,
                          std::string_view detail) {
  const auto now = client.access.clock().now();
  const auto& entry = lookup.stored();
  if (entry->is_object()) {
    ObjectToServe object{lookup.key, entry, lookup.presence};
    co_return co_await serve_object(client, request, std::move(object), now, detail);
  }
  const EntryToServe held{*entry, lookup.body};
  co_await serve(client, request, held, now, detail);
  co_return Delivered::sent;
}

}  // namespace proxy

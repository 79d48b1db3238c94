#include "proxy/client/note_arrival.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "proxy/http/text.hpp"

namespace proxy {

bool is_our_name(const Client& client, std::string_view host) {
  if (host == "localhost") return true;
  const auto& named = client.access.policy->settings.access.own_names;
  const auto is_host = [host](std::string_view name) { return http::same_word(host, name); };
  std::array<char, 256> hostname{};
  ::gethostname(hostname.data(), hostname.size() - 1);
  return is_host(hostname.data()) || is_host(client.access.name()) ||
         std::any_of(named.begin(), named.end(), is_host);
}

bool names_own_socket(const Client& client, const http::Target& target) {
  const auto& guard = client.access.fetching.sources.guard;
  return guard.names_own_socket(target.host(), target.port()) ||
         (guard.has_own_socket(target.port()) && is_our_name(client, target.host()));
}

bool is_for_us(const Client& client, const http::Target& target) {
  using Form = http::Target::Form;
  if (target.form() == Form::authority) return false;
  return target.form() != Form::absolute || names_own_socket(client, target);
}

namespace {

bool is_http_url(const http::Target& target) {
  return target.form() == http::Target::Form::absolute && !target.https();
}

}  // namespace

void note_arrival(const Client& client, Request& request) {
  if (client.door == Door::control) return request.arrive(Arrival::reverse);
  const auto& target = request.target;
  const auto& policy = request.policy();
  const auto* const mapping = policy.gateway.find(target.host(), target.port());
  // Forward and reverse clients use the same listeners, so the target tells them apart. Where
  // nobody may use us as a proxy, the absolute-form too names a host of ours (RFC 9112 3.2.2).
  const bool names_mapped = !policy.serves_forward && mapping && is_http_url(target);
  if (!names_mapped && !is_for_us(client, target)) return request.arrive(Arrival::forward);
  request.arrive(Arrival::reverse, mapping);
}

}  // namespace proxy

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "config/networks.hpp"
#include "peers/curl.hpp"
#include "peers/identity.hpp"
#include "peers/peer.hpp"
#include "proxy/check/try_out.hpp"
#include "proxy/http/head.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/false_hit.hpp"

namespace proxy {
namespace {

constexpr std::size_t kMostNeighbours = 64;
constexpr std::chrono::seconds kAnswersWithin{3};
constexpr std::size_t kLongestHead = std::size_t{64} << 10;
constexpr const char* kHeldByNobody = "http://hearsay-check.invalid/";

std::size_t take_head(char* bytes, std::size_t one, std::size_t count, void* into) {
  auto& head = *static_cast<std::string*>(into);
  if (head.size() + one * count > kLongestHead) return 0;
  head.append(bytes, one * count);
  return one * count;
}

// Ends the transfer: the body is not needed.
std::size_t take_no_body(char*, std::size_t, std::size_t, void*) {
  return 0;
}

// The head of the answer to a neighbour's question; empty if there is none.
std::string ask(const config::PeerSettings& neighbour) {
  const peers::CurlEasy easy(curl_easy_init());
  peers::CurlList fields(curl_slist_append(nullptr, "Cache-Control: only-if-cached"));
  const auto credentials = peers::basic_credentials(neighbour.login);
  if (!credentials.empty())
    curl_slist_append(fields.get(), ("Proxy-Authorization: " + credentials).c_str());
  std::string head;
  CURL* const handle = easy.get();
  if (!handle || !fields) return {};
  curl_easy_setopt(handle, CURLOPT_URL, kHeldByNobody);
  curl_easy_setopt(handle, CURLOPT_PROXY, neighbour.url.c_str());
  curl_easy_setopt(handle, CURLOPT_NOPROXY, "");
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields.get());
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(kAnswersWithin.count() * 1000));
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &take_head);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &head);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &take_no_body);
  curl_easy_perform(handle);
  return head;
}

// Empty if the neighbour answers as one does, or does not run.
std::string why_useless(const config::PeerSettings& neighbour) {
  auto text = ask(neighbour);
  const auto head = http::parse_response_head(text);
  if (!head) return {};
  if (refuses_us(*head)) {
    return "refuses us: not in its access.clients (of a Squid: its http_access); have our address "
           "added there";
  }
  if (peers::Identity(naming_in(*head)).is_nobody()) {
    return "what answers there names itself as no proxy (no Via, Cache-Status or X-Cache): is it "
           "another server?";
  }
  return {};
}

constexpr std::string_view kRefused =
    "may read our digest, but is not in access.clients: its questions are refused; add it there";

}  // namespace

void try_access_of_neighbours(const config::Settings& settings, Trial& into) {
  const auto& access = settings.access;
  const bool rules_allow = std::any_of(access.rules.begin(), access.rules.end(),
                                       [](const auto& rule) { return rule.allows; });
  if (rules_allow) return;
  for (const auto& peer : settings.peers) {
    const auto address = config::parse_address(peer.host);
    if (peer.is_parent() || !address || config::contains(access.clients, *address)) continue;
    into.warnings.push_back(fmt::format("peers: {} ({}) {}", peer.name, peer.host, kRefused));
  }
  for (const auto& network : access.peers) {
    const bool may_ask = std::any_of(access.clients.begin(), access.clients.end(),
                                     [&](const auto& wide) { return covers(wide, network); });
    if (may_ask) continue;
    into.warnings.push_back(fmt::format("access.peers: {} {}", to_text(network), kRefused));
  }
}

void try_neighbours(const config::Settings& settings, Trial& into) {
  const auto number = std::min(settings.peers.size(), kMostNeighbours);
  std::vector<std::future<std::string>> answers;
  for (std::size_t i = 0; i < number; ++i) {
    answers.push_back(std::async(std::launch::async, why_useless, settings.peers[i]));
  }
  for (std::size_t i = 0; i < number; ++i) {
    const auto why = answers[i].get();
    if (!why.empty()) {
      into.warnings.push_back(
          fmt::format("peers[{}]: {}: {}", settings.peers[i].place, settings.peers[i].name, why));
    }
  }
}

}  // namespace proxy

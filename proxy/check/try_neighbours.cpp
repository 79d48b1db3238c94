#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "config/networks.hpp"
#include "peers/curl.hpp"
#include "peers/peer.hpp"
#include "peers/site.hpp"
#include "proxy/check/try_out.hpp"
#include "proxy/http/head.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/neighbour.hpp"

namespace proxy::check {
namespace {

constexpr std::size_t kMostAsked = 64;
constexpr std::chrono::seconds kAnswersWithin{3};
constexpr std::chrono::seconds kResolvesWithin{5};
constexpr std::size_t kLongestHead = std::size_t{64} << 10;
// The domain invalid never exists (RFC 2606 section 2), so no cache can answer for it.
constexpr const char* kHeldByNobody = "http://hearsay-check.invalid/";

std::size_t append_head(char* bytes, std::size_t one, std::size_t count, void* into) {
  auto& head = *static_cast<std::string*>(into);
  if (head.size() + one * count > kLongestHead) return 0;
  head.append(bytes, one * count);
  return one * count;
}

// Ends the transfer: the body is not needed.
std::size_t refuse_body(char*, std::size_t, std::size_t, void*) {
  return 0;
}

// Empty if the neighbour answers as one does, or does not run.
std::string why_useless(const config::PeerSettings& neighbour) {
  const auto credentials = peers::basic_credentials(neighbour.login);
  TrialQuestion question{
      kHeldByNobody, {"Cache-Control: only-if-cached"}, kAnswersWithin, neighbour.url};
  if (!credentials.empty()) question.fields.push_back("Proxy-Authorization: " + credentials);
  auto text = head_of_answer(question);
  const auto head = http::parse_response_head(text);
  // A neighbour that does not run yet is how most meshes begin.
  if (!head) return {};
  if (sources::refuses_us(*head)) {
    return "refuses us: not in its access.clients (of a Squid: its http_access); have our address "
           "added there";
  }
  if (peers::Identity(sources::self_naming_in(*head)).is_nobody()) {
    return "what answers there names itself as no proxy (no Via, Cache-Status or X-Cache): is it "
           "another server?";
  }
  return {};
}

struct Name {
  std::string host;
  std::string place;  // of a setting
};

void add(std::vector<Name>& names, const std::string& host, std::string place) {
  const bool known =
      std::any_of(names.begin(), names.end(), [&](const Name& name) { return name.host == host; });
  if (known || config::parse_address(host) || names.size() == kMostAsked) return;
  names.push_back({host, std::move(place)});
}

std::vector<Name> names_of(const config::Settings& settings) {
  std::vector<Name> names;
  for (const auto& peer : settings.peers) {
    add(names, peer.host, fmt::format("peers[{}].url", peer.place));
  }
  for (std::size_t i = 0; i < settings.gateway.reverse.size(); ++i) {
    for (const auto& origin : settings.gateway.reverse[i].to) {
      add(names, origin.host, fmt::format("reverse[{}].to", i));
    }
  }
  return names;
}

// An empty text: the name resolves.
std::string why_not_resolved(const std::string& host) {
  addrinfo* found = nullptr;
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  if (error == 0) ::freeaddrinfo(found);
  return error == 0 ? "" : ::gai_strerror(error);
}

constexpr std::string_view kRefused =
    "may read our digest, but is not in access.clients: its questions are refused; add it there";

}  // namespace

std::string head_of_answer(const TrialQuestion& question) {
  const peers::CurlEasy easy(curl_easy_init());
  peers::CurlList fields;
  for (const auto& field : question.fields) {
    fields.reset(curl_slist_append(fields.release(), field.c_str()));
  }
  std::string head;
  CURL* const handle = easy.get();
  if (!handle || !fields) return {};
  curl_easy_setopt(handle, CURLOPT_URL, question.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROXY, question.proxy.c_str());
  curl_easy_setopt(handle, CURLOPT_NOPROXY, "");  // nor does the environment decide
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fields.get());
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(question.patience.count()));
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &append_head);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &head);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &refuse_body);
  curl_easy_perform(handle);
  return head;
}

void try_access_of_neighbours(const config::Settings& settings, CheckReport& into) {
  const auto& access = settings.access;
  const bool rules_allow = std::any_of(access.rules.begin(), access.rules.end(),
                                       [](const auto& rule) { return rule.allows; });
  // Rules may ask for more than an address, so what they mean for a neighbour is not judged here.
  if (rules_allow) return;
  for (const auto& peer : settings.peers) {
    const auto address = config::parse_address(peer.host);
    if (peer.is_parent() || !address || config::contains(access.clients, *address)) continue;
    into.warnings.push_back(fmt::format("peers: {} ({}) {}", peer.name, peer.host, kRefused));
  }
  // Who may read our digest believes its claims, and loses the time of each question that is
  // refused.
  for (const auto& network : access.peers) {
    const bool may_ask = std::any_of(access.clients.begin(), access.clients.end(),
                                     [&](const auto& wide) { return covers(wide, network); });
    if (may_ask) continue;
    into.warnings.push_back(fmt::format("access.peers: {} {}", to_text(network), kRefused));
  }
}

void try_neighbours(const config::Settings& settings, CheckReport& into) {
  const auto number = std::min(settings.peers.size(), kMostAsked);
  std::vector<std::future<std::string>> answers;
  for (std::size_t i = 0; i < number; ++i) {
    // One after the other, silent neighbours would take minutes.
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

void try_names(const config::Settings& settings, CheckReport& into) {
  const auto names = names_of(settings);
  if (names.empty()) return;
  std::vector<std::future<std::string>> answers;
  const auto unanswered = std::make_shared<std::atomic<std::size_t>>(names.size());
  const auto last = std::make_shared<std::promise<void>>();
  for (const Name& name : names) {
    std::promise<std::string> answer;
    answers.push_back(answer.get_future());
    // A name service that is silent must not hold the program back, so the thread is left alone.
    std::thread([=, answer = std::move(answer), host = name.host]() mutable {
      answer.set_value(why_not_resolved(host));
      if (--*unanswered == 0) last->set_value();
    }).detach();
  }
  last->get_future().wait_for(kResolvesWithin);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool answered = answers[i].wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    const std::string why = answered ? answers[i].get() : "no answer within 5 s";
    if (why.empty()) continue;
    into.warnings.push_back(
        fmt::format("{}: {} does not resolve: {}", names[i].place, names[i].host, why));
  }
}

}  // namespace proxy::check

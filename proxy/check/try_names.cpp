#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>

#include "config/networks.hpp"
#include "proxy/check/try_out.hpp"

namespace proxy {
namespace {

constexpr std::size_t kMostNames = 64;
constexpr std::chrono::seconds kPatience{5};

struct Name {
  std::string host;
  std::string place;  // of a setting
};

void add(std::vector<Name>& names, const std::string& host, std::string place) {
  const bool known =
      std::any_of(names.begin(), names.end(), [&](const Name& name) { return name.host == host; });
  if (known || config::parse_address(host) || names.size() == kMostNames) return;
  names.push_back({host, std::move(place)});
}

std::vector<Name> names_of(const config::Settings& settings) {
  std::vector<Name> names;
  for (const auto& peer : settings.peers) {
    add(names, peer.host, fmt::format("peers[{}].url", peer.place));
  }
  for (std::size_t i = 0; i < settings.reverse.size(); ++i) {
    for (const auto& origin : settings.reverse[i].to) {
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

}  // namespace

void try_names(const config::Settings& settings, Trial& into) {
  const auto names = names_of(settings);
  std::vector<std::future<std::string>> answers;
  for (const Name& name : names) {
    std::promise<std::string> answer;
    answers.push_back(answer.get_future());
    // A name service that is silent must not hold the program back, so the thread is left alone.
    std::thread([answer = std::move(answer), host = name.host]() mutable {
      answer.set_value(why_not_resolved(host));
    }).detach();
  }
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool answered = answers[i].wait_until(until) == std::future_status::ready;
    const std::string why = answered ? answers[i].get() : "no answer within 5 s";
    if (why.empty()) continue;
    into.warnings.push_back(
        fmt::format("{}: {} does not resolve: {}", names[i].place, names[i].host, why));
  }
}

}  // namespace proxy

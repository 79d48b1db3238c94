#include "proxy/command/steering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>

#include "config/text.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {
namespace {

constexpr std::string_view kHits[] = {"hit", "disk_hit", "conditional_hit"};
constexpr std::string_view kNoClients[] = {"own_page", "purge", "site_question"};
constexpr std::string_view kNeighbours[] = {"sibling", "parent_store"};
constexpr std::string_view kOrigins[] = {"origin", "parent"};
constexpr std::size_t kPeersShown = 5;

// Nothing: the text is no number.
std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  // Not std::from_chars, which takes no plus sign: the last bound of a histogram is "+Inf".
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0') return std::nullopt;
  return value;
}

// How much counters grew between two looks. A proxy that has been restarted begins at 0.
struct Increase {
  const Samples& before;
  const Samples& after;

  double of(const std::string& name) const {
    return std::max(0.0, after.get(name) - before.get(name));
  }
  double of_all(std::string_view name, std::string_view label_name, const auto& values) const {
    double total = 0;
    for (const auto value : values) {
      total += of(fmt::format("{}{{{}=\"{}\"}}", name, label_name, value));
    }
    return total;
  }
  double sum(std::string_view name) const {
    return std::max(0.0, after.sum(name) - before.sum(name));
  }
};

std::optional<double> share(double part, double all) {
  return all > 0 ? std::optional(part / all) : std::nullopt;
}

// The samples of all outcomes together, by their upper bound.
std::map<double, double> buckets_of(const Samples& samples, std::string_view name) {
  std::map<double, double> buckets;
  samples.each(name, [&buckets](std::string_view labels, double value) {
    const auto bound = label(labels, "le");
    if (bound) buckets[std::strtod(bound->c_str(), nullptr)] += value;
  });
  return buckets;
}

// The upper bound of the bucket that holds the median.
std::optional<double> median(const Samples& before, const Samples& after) {
  constexpr std::string_view kTimes = "hearsay_request_first_byte_seconds_bucket";
  auto grown = buckets_of(after, kTimes);
  for (const auto& [bound, value] : buckets_of(before, kTimes)) grown[bound] -= value;
  // Buckets of Prometheus are cumulative: the last one has all requests.
  if (grown.empty() || grown.rbegin()->second <= 0) return std::nullopt;
  const auto half = grown.rbegin()->second / 2;
  const auto found = std::find_if(grown.begin(), grown.end(),
                                  [half](const auto& bucket) { return bucket.second >= half; });
  if (found == grown.end() || std::isinf(found->first)) return std::nullopt;  // it has no bound
  return found->first;
}

std::vector<Rates::Peer> peers_of(const Increase& growth, double seconds) {
  std::vector<Rates::Peer> peers;
  growth.after.each("hearsay_peer_true_hits_total", [&](std::string_view labels, double) {
    const auto name = label(labels, "peer");
    if (!name) return;
    const auto rate = [&](std::string_view counter) {
      return growth.of(fmt::format("{}{{{}", counter, labels)) / seconds;
    };
    peers.push_back(
        {*name, rate("hearsay_peer_true_hits_total"), rate("hearsay_peer_saved_bytes_total")});
  });
  // Stable, or peers of equal rates would change places from one look to the next.
  std::stable_sort(peers.begin(), peers.end(),
                   [](const auto& a, const auto& b) { return a.true_hits > b.true_hits; });
  return peers;
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

std::string per_second(double bytes) {
  return config::short_size(static_cast<std::uint64_t>(bytes)) + "/s";
}

std::string time(const std::optional<double>& seconds) {
  if (!seconds) return "-";
  return *seconds < 1 ? fmt::format("<= {:.3g} ms", 1000 * *seconds)
                      : fmt::format("<= {:.3g} s", *seconds);
}

}  // namespace

// A label's value may hold blanks, so the last one ends the name.
Samples::Samples(std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto blank = line.rfind(' ');
    if (line.starts_with('#') || blank == line.npos) continue;
    if (const auto value = number_in(std::string(line.substr(blank + 1)))) {
      values_.insert_or_assign(std::string(line.substr(0, blank)), *value);
    }
  }
}

std::optional<double> Samples::find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

double Samples::sum(std::string_view name) const {
  double total = get(name);
  each(name, [&total](std::string_view, double value) { total += value; });
  return total;
}

void Samples::each(std::string_view name,
                   const std::function<void(std::string_view, double)>& with) const {
  // With the brace, or other names that begin so would count, too.
  const auto labelled = std::string(name) + '{';
  for (auto at = values_.lower_bound(labelled); at != values_.end(); ++at) {
    if (!at->first.starts_with(labelled)) break;
    with(std::string_view(at->first).substr(labelled.size()), at->second);
  }
}

std::optional<std::string> label(std::string_view labels, std::string_view name) {
  const auto begin = std::string(name) + "=\"";
  for (auto at = labels.find(begin); at != labels.npos; at = labels.find(begin, at + 1)) {
    // The end of a longer name is no match, such as that of "file" for "le".
    if (at > 0 && labels[at - 1] != ',') continue;
    std::string value;
    for (auto i = at + begin.size(); i < labels.size() && labels[i] != '"'; ++i) {
      if (labels[i] == '\\' && i + 1 < labels.size()) ++i;
      value += labels[i];
    }
    return value;
  }
  return std::nullopt;
}

Rates rates_between(const Samples& before, const Samples& after,
                    std::chrono::duration<double> passed, std::uint64_t own_bytes) {
  const Increase growth{before, after};
  // Two looks at once must not divide by zero.
  const double seconds = std::max(0.001, passed.count());
  constexpr std::string_view kRequests = "hearsay_requests_total";
  constexpr std::string_view kBytes = "hearsay_body_bytes_total";
  const double requests = growth.sum(kRequests) - growth.of_all(kRequests, "result", kNoClients);
  Rates rates;
  rates.requests = requests / seconds;
  rates.hits = share(growth.of_all(kRequests, "result", kHits), requests);
  rates.byte_hits =
      share(growth.of("hearsay_body_bytes_total{source=\"cache\"}"), growth.sum(kBytes));
  // To look is to send: on an idle proxy the page itself would be all of the traffic.
  const double sent = growth.of("hearsay_sent_bytes_total") - static_cast<double>(own_bytes);
  rates.to_clients = std::max(0.0, sent) / seconds;
  rates.from_neighbours = growth.of_all(kBytes, "source", kNeighbours) / seconds;
  rates.from_origins = growth.of_all(kBytes, "source", kOrigins) / seconds;
  rates.median = median(before, after);
  rates.connections = after.get("hearsay_connections");
  rates.peers = peers_of(growth, seconds);
  return rates;
}

std::string top_text(const Rates& rates) {
  std::string text;
  const auto line = [&text](std::string_view label, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "{:<18}{:>16}\n", label, value);
  };
  line("requests", fmt::format("{:.0f}/s", rates.requests));
  line("hits", percent(rates.hits));
  line("bytes from cache", percent(rates.byte_hits));
  line("first byte, p50", time(rates.median));
  line("connections", fmt::format("{:.0f}", rates.connections));
  line("to clients", per_second(rates.to_clients));
  line("from neighbours", per_second(rates.from_neighbours));
  line("from origins", per_second(rates.from_origins));
  for (std::size_t i = 0; i < std::min(kPeersShown, rates.peers.size()); ++i) {
    const auto& peer = rates.peers[i];
    line("  " + escaped(peer.name, 15),
         fmt::format("{:.0f}/s {:>9}", peer.true_hits, per_second(peer.saved)));
  }
  return text;
}

std::string top_json(const Rates& rates) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json json{{"requests_per_second", rates.requests},
            {"hit_ratio", or_null(rates.hits)},
            {"byte_hit_ratio", or_null(rates.byte_hits)},
            {"first_byte_p50_seconds", or_null(rates.median)},
            {"connections", rates.connections},
            {"to_clients_bytes_per_second", rates.to_clients},
            {"from_neighbours_bytes_per_second", rates.from_neighbours},
            {"from_origins_bytes_per_second", rates.from_origins},
            {"peers", Json::array()}};
  for (const auto& peer : rates.peers) {
    json["peers"].push_back({{"name", peer.name},
                             {"true_hits_per_second", peer.true_hits},
                             {"saved_bytes_per_second", peer.saved}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace proxy::command

#include "proxy/crowd/whom_to_end.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "proxy/crowd/client_table.hpp"

namespace proxy::crowd {
namespace {

constexpr std::size_t kShare = 64;

bool may_close(const WaitingConnection& waiting, const Newcomer& newcomer) {
  const bool own = waiting.client == newcomer.client;
  if (newcomer.shortage == Newcomer::Shortage::own) return own;
  if (newcomer.shortage == Newcomer::Shortage::network)
    return network_of(waiting.client) == network_of(newcomer.client);
  return !own && waiting.connections > newcomer.connections &&
         waiting.connections >= newcomer.spared_below;
}

using Indices = std::vector<std::size_t>;

// The responses of one client that have yet to be considered, in the order in which they are cut.
struct Share {
  std::uint64_t bytes = 0;
  std::uint64_t freed = 0;
  std::span<const std::size_t> responses;

  bool operator<(const Share& other) const { return freed < other.freed; }
};

Indices in_order(std::span<const Holder> holders) {
  Indices order(holders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    // By client first, so that the responses of each are one run. The address of the share tells
    // clients apart; whose comes first does not matter.
    const auto rank = [&](const Holder& holder) {
      return std::tuple(reinterpret_cast<std::uintptr_t>(holder.client), !holder.unread.by_client,
                        holder.unread.since);
    };
    return rank(holders[a]) < rank(holders[b]);
  });
  return order;
}

std::vector<Share> shares_of(std::span<const Holder> holders, std::span<const std::size_t> order) {
  std::vector<Share> clients;
  for (std::size_t begin = 0; begin < order.size();) {
    const auto& first = holders[order[begin]];
    auto end = begin + 1;
    while (end < order.size() && holders[order[end]].client == first.client) ++end;
    clients.push_back({first.client_bytes, first.client_freed, order.subspan(begin, end - begin)});
    begin = end;
  }
  return clients;
}

class Choice {
 public:
  Choice(std::span<const Holder> holders, const Need& need, Unread::Time now)
      : holders_(holders), left_(need.freed), need_(need), now_(now) {}

  void cut_stalled(Share& client) {
    while (client.bytes > need_.per_client && next_is_stalled(client, Need::kStalled)) cut(client);
  }

  void release(const std::vector<Share>& clients) {
    // After each cut another client may be the one that holds most.
    std::priority_queue<Share> by_freed(clients.begin(), clients.end());
    std::uint64_t spared = need_.most / 2;  // clients that hold less are
    while (left_ > 0 && !by_freed.empty()) {
      auto client = by_freed.top();
      by_freed.pop();
      if (client.freed < spared) break;
      pass_those_that_may_stay(client);
      if (!next_may_go(client)) {
        // This client may keep more than any that is left has, so those with less than half of that
        // are no better targets.
        spared = std::max(spared, client.freed / 2);
        continue;
      }
      cut(client);
      by_freed.push(client);
    }
  }

  Indices take() { return std::move(cut_); }

 private:
  // A response may stay if cutting it frees nothing, or if its client has read lately. The search
  // passes such a response, because a silent source may come behind it.
  void pass_those_that_may_stay(Share& client) const {
    const auto may_stay = [&](const Unread& unread) {
      return unread.freed == 0 || (unread.by_client && now_ - unread.since < need_.patience);
    };
    while (!client.responses.empty() && may_stay(next(client))) skip(client);
  }
  [[nodiscard]] bool next_is_stalled(const Share& client, Need::Duration patience) const {
    return !client.responses.empty() && next(client).by_client &&
           now_ - next(client).since >= patience;
  }
  [[nodiscard]] bool next_may_go(const Share& client) const {
    if (client.responses.empty()) return false;
    const bool by_client = next(client).by_client;
    const auto patience = by_client ? need_.patience : need_.patience_with_sources;
    return now_ - next(client).since >= patience;
  }
  [[nodiscard]] const Unread& next(const Share& client) const {
    return holders_[client.responses.front()].unread;
  }
  static void skip(Share& client) { client.responses = client.responses.subspan(1); }
  void cut(Share& client) {
    const auto& unread = next(client);
    cut_.push_back(client.responses.front());
    client.bytes -= std::min(client.bytes, unread.bytes);
    client.freed -= std::min(client.freed, unread.freed);
    left_ -= std::min(left_, unread.freed);
    skip(client);
  }

  const std::span<const Holder> holders_;
  std::uint64_t left_;
  const Need& need_;
  const Unread::Time now_;
  Indices cut_;
};

}  // namespace

std::vector<std::size_t> whom_to_close(std::span<const WaitingConnection> waiting,
                                       const Newcomer& newcomer) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (may_close(waiting[i], newcomer)) found.push_back(i);
  }
  if (found.empty()) return found;
  const auto greediest = *std::max_element(found.begin(), found.end(), [&](auto a, auto b) {
    return std::tie(waiting[a].connections, waiting[a].client) <
           std::tie(waiting[b].connections, waiting[b].client);
  });
  std::erase_if(found, [&](auto i) { return waiting[i].client != waiting[greediest].client; });
  const auto most = std::min(found.size(), 1 + waiting[greediest].connections / kShare);
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(most);
  std::partial_sort(found.begin(), end, found.end(), [&](auto a, auto b) {
    return std::tuple(!waiting[a].idle, waiting[a].since) <
           std::tuple(!waiting[b].idle, waiting[b].since);
  });
  found.erase(end, found.end());
  return found;
}

Indices whom_to_cut(std::span<const Holder> holders, const Need& need, Unread::Time now) {
  const auto order = in_order(holders);
  auto clients = shares_of(holders, order);
  Choice choice(holders, need, now);
  for (auto& client : clients) choice.cut_stalled(client);
  choice.release(clients);
  return choice.take();
}

}  // namespace proxy::crowd

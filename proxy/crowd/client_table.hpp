// The clients that are connected, and what each of them holds.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/core/noncopyable.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "config/networks.hpp"
#include "config/settings.hpp"
#include "peers/threads/mutex.hpp"

namespace proxy::crowd {

// All addresses of one network together get three quarters at most: see network_of(). So the others
// have a quarter, and users who all share a network hardly notice.
constexpr std::size_t most_of_network(std::size_t all, std::size_t per_client) {
  return std::max(per_client, all - all / 4);
}

struct ConnectionLimits {
  std::size_t all = 0;
  std::size_t per_client = 0;

  [[nodiscard]] std::size_t per_network() const { return most_of_network(all, per_client); }
  // How many connections there may be beyond `all`, in two parts. One part is for clients that have
  // few, until connections of others are closed for them.
  [[nodiscard]] std::size_t swaps() const { return std::clamp<std::size_t>(all / 16, 1, 64); }
  // The second part is for monitors, administrators and neighbours.
  [[nodiscard]] std::size_t reserve() const { return std::clamp<std::size_t>(all / 8, 2, 32); }
};

// The limits of requests under way.
struct RequestLimits {
  std::size_t per_client = 0;
  std::size_t per_network = 0;
};

// `allowed`: the most connections for which there are descriptors.
inline ConnectionLimits connection_limits(config::Limits limits, std::size_t allowed) {
  limits.connections = std::min(limits.connections, allowed);
  return {limits.connections, limits.most_connections_per_client()};
}

inline RequestLimits request_limits(config::Limits limits, std::size_t allowed) {
  limits.connections = std::min(limits.connections, allowed);
  const auto per_client = limits.most_requests_per_client();
  return {per_client, most_of_network(limits.connections, per_client)};
}

// The address by which limits count a client. One host of the Internet may use every address of an
// IPv6 network of /64 (RFC 8981), so such a network counts as one client. On a local network
// (fc00::/7, fe80::/10, ::1) all hosts share a network, so each address counts for itself, as for
// IPv4.
config::Address counted_as(const config::Address& address);

// The network whose addresses are also counted together, as one host or one customer may use them
// all: a /64 of a local network, a /48 of the Internet (RFC 6177). Nothing: IPv4, or ::1.
std::optional<config::Address> network_of(const config::Address& address);

// The connections and the requests that all clients of one network have at the moment.
struct NetworkShare {
  std::atomic<std::size_t> connections{0};
  std::atomic<std::size_t> requests{0};
};

// The connections, requests and memory that one client has at the moment, on all threads. Any
// thread may use it.
struct ClientShare {
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::size_t> requests{0};  // see RequestUnderWay
  // The bytes of responses that do not get on and of heads of requests (HeldHead), as of the last
  // look (Relief): all of them, and those in transit.
  std::atomic<std::uint64_t> unread_bytes{0};
  std::atomic<std::uint64_t> transit_bytes{0};
  std::atomic<std::uint64_t> head_bytes{0};
  NetworkShare* network = nullptr;  // null: see network_of()
};

// Any thread. Has an entry for each client that has a connection, so the number of connections
// bounds it. Strangers choose the keys, so their hash depends on a secret of this process.
class ClientTable : boost::noncopyable {
 public:
  // One connection of a client, counted until the guest is destroyed. The table outlives it.
  class Guest {
   public:
    [[nodiscard]] const config::Address& address() const {  // see counted_as()
      return share_.get_deleter().address;
    }
    [[nodiscard]] ClientShare& share() const { return *share_; }
    [[nodiscard]] bool in_reserve() const {
      return share_.get_deleter().counted_in == &share_.get_deleter().table->reserved_;
    }

   private:
    friend class ClientTable;
    struct Leave {
      ClientTable* table;
      config::Address address;
      std::atomic<std::size_t>* counted_in;
      void operator()(const ClientShare*) const { table->leave(*this); }
    };
    Guest(ClientTable& table, const config::Address& address, std::atomic<std::size_t>& counted_in)
        : share_(table.join(address), {&table, address, &counted_in}) {}

    std::unique_ptr<ClientShare, Leave> share_;
  };

  // Counts one more connection. Nothing: a limit is reached.
  std::optional<Guest> enter(const config::Address& from, const ConnectionLimits& limits);
  // Enters as enter() does, but beyond all limits except that of the reserve.
  std::optional<Guest> enter_reserve(const config::Address& from, const ConnectionLimits& limits);

  // The number of all connections, and of those outside the reserve.
  [[nodiscard]] std::size_t connections() const { return ordinary_ + reserved_; }
  [[nodiscard]] std::size_t ordinary() const { return ordinary_; }
  // Whether the client with this address stays within an equal share with one connection more:
  // `limits.all` divided by the number of clients. Always true of its first connection.
  [[nodiscard]] bool has_few(const config::Address& from, const ConnectionLimits& limits);
  // Whether the network of the address, if it has one, may have one more connection.
  [[nodiscard]] bool network_has_room(const config::Address& from, const ConnectionLimits& limits);
  // Connections of the client with this address.
  [[nodiscard]] std::size_t connections_of(const config::Address& from);
  // The largest number of this kind, of connections or bytes, that any client holds. The search
  // looks at every client.
  [[nodiscard]] std::uint64_t most_of_one(std::atomic<std::uint64_t> ClientShare::*count);
  // How many clients have a connection.
  [[nodiscard]] std::size_t clients();

 private:
  struct KeyedHash {
    std::size_t operator()(const config::Address& address) const;
  };
  struct Shard {
    threads::Mutex mutex;
    std::unordered_map<config::Address, ClientShare, KeyedHash> shares GUARDED_BY(mutex);
    std::unordered_map<config::Address, NetworkShare, KeyedHash> networks GUARDED_BY(mutex);
  };
  static constexpr std::size_t kShards = 16;

  Shard& shard_of(const config::Address& address);
  ClientShare* join(const config::Address& address);
  void leave(const Guest::Leave& left);

  std::array<Shard, kShards> shards_;
  std::atomic<std::size_t> ordinary_{0};
  std::atomic<std::size_t> reserved_{0};
};

// A request that memory does not answer at once, counted until this object is destroyed. So a hit
// in memory costs nothing here. Belongs to one thread.
class RequestUnderWay : boost::noncopyable {
 public:
  // Counts the request in the share. Null: the request is not counted.
  explicit RequestUnderWay(ClientShare* share) : share_(share) {}
  ~RequestUnderWay() {
    if (!counted_) return;
    --share_->requests;
    if (share_->network) --share_->network->requests;
  }

  // Counts the request at the first call. Returns whether it may begin: whether the client and its
  // network keep to the limits with it. Later calls return the same.
  [[nodiscard]] bool begin(const RequestLimits& limits) {
    if (!share_ || counted_) return may_begin_;
    counted_ = true;
    may_begin_ = ++share_->requests <= limits.per_client;
    if (share_->network && ++share_->network->requests > limits.per_network) may_begin_ = false;
    return may_begin_;
  }

 private:
  ClientShare* const share_;
  bool counted_ = false;
  bool may_begin_ = true;
};

// Adds what one connection counts to a sum, and to a second sum if one is given: mostly the bytes
// that it holds. The destructor subtracts it. An object belongs to one thread.
class PartOfSum : boost::noncopyable {
 public:
  explicit PartOfSum(std::atomic<std::uint64_t>& sum, std::atomic<std::uint64_t>* other = nullptr)
      : sum_(sum), other_(other) {}
  ~PartOfSum() { set(0); }

  void set(std::uint64_t part) {
    if (part == part_) return;
    sum_ += part - part_;
    if (other_) *other_ += part - part_;
    part_ = part;
  }
  [[nodiscard]] std::uint64_t get() const { return part_; }

 private:
  std::atomic<std::uint64_t>& sum_;
  std::atomic<std::uint64_t>* const other_;
  std::uint64_t part_ = 0;
};

}  // namespace proxy::crowd

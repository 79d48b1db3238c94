#include "proxy/crowd/client_table.hpp"

#include <algorithm>
#include <utility>

#include "digest/keyed_hash.hpp"

namespace proxy {
namespace {

constexpr std::ptrdiff_t kNetworkBytes = 8;  // of an IPv6 address

}  // namespace

config::Address counted_as(const config::Address& address) {
  const bool unique_local = (address[0] & 0xfe) == 0xfc;
  const bool link_local = address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
  const bool reserved = address[0] == 0;  // IPv4 in its mapped form, and ::1
  if (unique_local || link_local || reserved) return address;
  auto network = address;
  std::fill(network.begin() + kNetworkBytes, network.end(), std::uint8_t{0});
  return network;
}

std::size_t ClientTable::KeyedHash::operator()(const config::Address& address) const {
  return digest::keyed_hash(address);
}

ClientTable::Guest::Guest(ClientTable& table, const config::Address& address, bool in_reserve)
    : table_(&table),
      address_(address),
      share_(table.take_share(address)),
      in_reserve_(in_reserve) {}

ClientTable::Guest::Guest(Guest&& other) noexcept
    : table_(other.table_),
      address_(other.address_),
      share_(std::exchange(other.share_, nullptr)),
      in_reserve_(other.in_reserve_) {}

ClientTable::Guest& ClientTable::Guest::operator=(Guest&& other) noexcept {
  std::swap(table_, other.table_);
  std::swap(address_, other.address_);
  std::swap(share_, other.share_);
  std::swap(in_reserve_, other.in_reserve_);
  return *this;
}

ClientTable::Guest::~Guest() {
  if (share_) table_->leave(*this);
}

// The shard follows from the upper half of the hash. The map of a shard uses the whole hash.
ClientTable::Shard& ClientTable::shard_of(const config::Address& address) {
  return shards_[(KeyedHash()(address) >> 32) % kShards];
}

std::optional<ClientTable::Guest> ClientTable::enter(const config::Address& from,
                                                     const ConnectionLimits& limits) {
  const auto before = ordinary_.fetch_add(1);
  if (before < limits.all || (before < limits.all + limits.swaps() && has_few(from, limits))) {
    Guest guest(*this, counted_as(from), false);
    if (guest.share().connections <= limits.per_client) return guest;
    return std::nullopt;  // the guest leaves
  }
  --ordinary_;
  return std::nullopt;
}

bool ClientTable::has_few(const config::Address& from, const ConnectionLimits& limits) {
  const auto own = connections_of(from);
  if (own == 0) return true;  // however many clients there are
  return (own + 1) * clients() <= limits.all;
}

std::optional<ClientTable::Guest> ClientTable::enter_reserve(const config::Address& from,
                                                             const ConnectionLimits& limits) {
  if (reserved_.fetch_add(1) < limits.reserve()) return Guest(*this, counted_as(from), true);
  --reserved_;
  return std::nullopt;
}

ClientShare* ClientTable::take_share(const config::Address& address) {
  auto& shard = shard_of(address);
  const threads::MutexLock lock(shard.mutex);
  auto& share = shard.shares[address];
  ++share.connections;
  return &share;
}

void ClientTable::leave(const Guest& guest) {
  auto& shard = shard_of(guest.address());
  {
    const threads::MutexLock lock(shard.mutex);
    const auto found = shard.shares.find(guest.address());
    if (--found->second.connections == 0) shard.shares.erase(found);
  }
  --(guest.in_reserve() ? reserved_ : ordinary_);
}

std::size_t ClientTable::connections_of(const config::Address& from) {
  const auto address = counted_as(from);
  auto& shard = shard_of(address);
  const threads::MutexLock lock(shard.mutex);
  const auto found = shard.shares.find(address);
  return found == shard.shares.end() ? 0 : found->second.connections.load();
}

std::uint64_t ClientTable::most_of_one(std::atomic<std::uint64_t> ClientShare::*count) {
  std::uint64_t most = 0;
  for (auto& shard : shards_) {
    const threads::MutexLock lock(shard.mutex);
    for (const auto& [address, share] : shard.shares) most = std::max(most, (share.*count).load());
  }
  return most;
}

std::size_t ClientTable::clients() {
  std::size_t all = 0;
  for (auto& shard : shards_) {
    const threads::MutexLock lock(shard.mutex);
    all += shard.shares.size();
  }
  return all;
}

}  // namespace proxy

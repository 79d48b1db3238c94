#include "proxy/crowd/client_table.hpp"

#include <algorithm>
#include <utility>

#include "digest/keyed_hash.hpp"

namespace proxy::crowd {
namespace {

// Of a network's address.
constexpr std::ptrdiff_t kBytesOf64 = 8;
constexpr std::ptrdiff_t kBytesOf48 = 6;

// IPv4 in its mapped form, and ::1.
bool is_reserved(const config::Address& address) {
  return address[0] == 0;
}

bool is_local(const config::Address& address) {
  const bool unique_local = (address[0] & 0xfe) == 0xfc;
  const bool link_local = address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
  return unique_local || link_local;
}

config::Address first_bytes(config::Address address, std::ptrdiff_t bytes) {
  std::fill(address.begin() + bytes, address.end(), std::uint8_t{0});
  return address;
}

}  // namespace

config::Address counted_as(const config::Address& address) {
  if (is_local(address) || is_reserved(address)) return address;
  return first_bytes(address, kBytesOf64);
}

std::optional<config::Address> network_of(const config::Address& address) {
  if (is_reserved(address)) return std::nullopt;
  return first_bytes(address, is_local(address) ? kBytesOf64 : kBytesOf48);
}

std::size_t ClientTable::KeyedHash::operator()(const config::Address& address) const {
  return digest::keyed_hash(address);
}

// A network and its clients are in one shard. It follows from the upper half of the hash; the maps
// of a shard use the whole hash.
ClientTable::Shard& ClientTable::shard_of(const config::Address& address) {
  return shards_[(KeyedHash()(network_of(address).value_or(address)) >> 32) % kShards];
}

std::optional<ClientTable::Guest> ClientTable::enter(const config::Address& from,
                                                     const ConnectionLimits& limits) {
  // Counted first and taken back if refused, so that many at once cannot all pass the limit.
  const auto before = ordinary_.fetch_add(1);
  if (before < limits.all || (before < limits.all + limits.swaps() && has_few(from, limits))) {
    Guest guest(*this, counted_as(from), ordinary_);
    const auto* const network = guest.share().network;
    const bool network_may = !network || network->connections <= limits.per_network();
    if (network_may && guest.share().connections <= limits.per_client) return guest;
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
  if (reserved_.fetch_add(1) < limits.reserve()) return Guest(*this, counted_as(from), reserved_);
  --reserved_;
  return std::nullopt;
}

ClientShare* ClientTable::join(const config::Address& address) {
  auto& shard = shard_of(address);
  const threads::MutexLock lock(shard.mutex);
  auto& share = shard.shares[address];
  const auto network = network_of(address);
  // The nodes of an unordered_map stay in place, so a share may point to its network, and a guest
  // to its share.
  if (network && !share.network) share.network = &shard.networks[*network];
  if (network) ++share.network->connections;
  ++share.connections;
  return &share;
}

void ClientTable::leave(const Guest::Leave& left) {
  auto& shard = shard_of(left.address);
  {
    const threads::MutexLock lock(shard.mutex);
    const auto found = shard.shares.find(left.address);
    auto* const network = found->second.network;
    if (network && --network->connections == 0) shard.networks.erase(*network_of(left.address));
    if (--found->second.connections == 0) shard.shares.erase(found);
  }
  --*left.counted_in;
}

bool ClientTable::network_has_room(const config::Address& from, const ConnectionLimits& limits) {
  const auto network = network_of(from);
  if (!network) return true;
  auto& shard = shard_of(from);
  const threads::MutexLock lock(shard.mutex);
  const auto found = shard.networks.find(*network);
  return found == shard.networks.end() || found->second.connections < limits.per_network();
}

std::size_t ClientTable::connections_of(const config::Address& from) {
  const auto address = counted_as(from);
  auto& shard = shard_of(address);
  const threads::MutexLock lock(shard.mutex);
  const auto found = shard.shares.find(address);
  return found == shard.shares.end() ? 0 : found->second.connections.load();
}

// One shard after the other: what changes meanwhile is too little to matter for a choice of whom to
// end.
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

}  // namespace proxy::crowd

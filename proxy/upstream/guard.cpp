#include "proxy/upstream/guard.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace proxy::upstream {
namespace {

namespace ip = boost::asio::ip;

// Addresses come and go (DHCP, VPN). Reading them is an exchange with the kernel, too much for each
// connection.
constexpr std::chrono::seconds kLookAgain{10};

const config::Address kLoopback4 = config::address_from_v4({127, 0, 0, 1});
const config::Address kLoopback6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

std::vector<config::Address> interface_addresses() {
  std::vector<config::Address> addresses;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return addresses;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(first, &::freeifaddrs);
  for (auto* each = first; each; each = each->ifa_next) {
    if (const auto address = address_in(each->ifa_addr)) {
      addresses.push_back(plain_address(*address));
    }
  }
  return addresses;
}

// The address that the kernel connects to. For the unspecified address it is loopback.
config::Address reached(const config::Address& address) {
  if (address == config::address_from_v4({0, 0, 0, 0})) return kLoopback4;
  return address == config::Address{} ? kLoopback6 : address;
}

// RFC 6761 6.3: resolvers give a loopback address for these names, whatever the name servers say.
bool is_localhost(std::string_view host) {
  constexpr std::string_view kName = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < kName.size()) return false;
  const auto last = host.substr(host.size() - kName.size());
  const bool same = std::equal(last.begin(), last.end(), kName.begin(),
                               [](char a, char b) { return (a | 0x20) == b; });
  return same && (host.size() == kName.size() || host[host.size() - kName.size() - 1] == '.');
}

bool includes(const config::Networks& networks, std::string_view set) {
  const auto members = config::parse_networks(set).value();
  return std::all_of(members.begin(), members.end(), [&](const config::Network& one) {
    return std::find(networks.begin(), networks.end(), one) != networks.end();
  });
}

bool is_of_every_machine(const config::Network& network) {
  static const auto sets = [] {
    config::Networks all;
    for (const char* set : {"loopback", "link-local", "metadata"}) {
      const auto members = config::parse_networks(set).value();
      all.insert(all.end(), members.begin(), members.end());
    }
    return all;
  }();
  return std::find(sets.begin(), sets.end(), network) != sets.end();
}

bool is_private(const config::Address& address) {
  static const auto kPrivate = config::parse_networks("private").value();
  return config::contains(kPrivate, address);
}

}  // namespace

// Here and not beside name_of(), which is linked into programs without Asio.
std::optional<ip::address> address_in(const sockaddr* address) {
  if (!address) return std::nullopt;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    return ip::address_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, address, sizeof v6);
  ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
  return ip::address_v6(bytes);
}

config::Address plain_address(const ip::address& address) {
  if (address.is_v4()) return config::address_from_v4(address.to_v4().to_bytes());
  return address.to_v6().to_bytes();
}

Guard::Guard(const config::AccessSettings& access, std::vector<net::tcp::endpoint> listening,
             const lists::AccessLists* lists)
    : listening_(std::move(listening)), interfaces_(interface_addresses()) {
  follow(access, lists);
}

void Guard::follow(const config::AccessSettings& access, const lists::AccessLists* lists) {
  deny_to_ = access.deny_to;
  deny_to_self_ = access.deny_to_self;
  denies_all_ = includes(deny_to_, "any");
  denies_by_address_ = !std::all_of(deny_to_.begin(), deny_to_.end(), is_of_every_machine);
  lists_ = lists;
}

void Guard::refresh(Clock::time_point now) {
  if (looked_at_ && now - *looked_at_ < kLookAgain) return;
  looked_at_ = now;
  interfaces_ = interface_addresses();
}

bool Guard::allows(const config::Address& address, std::uint16_t port, NamedBy named_by) const {
  if (is_denied(address, port, named_by)) return false;
  // A gateway translates the address back, so what lies inside it is what would be reached.
  const auto inner = config::translated(address);
  return !inner || !is_denied(*inner, port, named_by);
}

// What is denied must not come from the cache or a neighbour either, so this does not wait for a
// connection.
bool Guard::names_denied_literal(std::string_view host, std::uint16_t port) const {
  if (denies_all_) return true;
  if (const auto address = config::parse_address(host)) {
    return !allows(*address, port, NamedBy::client);
  }
  return is_localhost(host) && (is_denied(kLoopback4, port, NamedBy::client) ||
                                is_denied(kLoopback6, port, NamedBy::client));
}

bool Guard::has_own_socket(std::uint16_t port) const {
  return std::any_of(listening_.begin(), listening_.end(),
                     [port](const auto& own) { return own.port() == port; });
}

bool Guard::names_own_socket(std::string_view host, std::uint16_t port) const {
  if (!has_own_socket(port)) return false;
  const auto address = config::parse_address(host);
  return address && is_own_socket(*address, port);
}

bool Guard::is_denied(const config::Address& address, std::uint16_t port, NamedBy named_by) const {
  // Before the settings: a connection to ourselves would make a loop even if they allow it.
  if (is_own_socket(address, port)) return true;
  // The operator has named it: a neighbour or an origin on this machine is common.
  if (named_by == NamedBy::configured) return false;
  if (named_by == NamedBy::stranger && is_private(address)) return true;
  return config::contains(deny_to_, address) || (deny_to_self_ && is_local(address));
}

bool Guard::is_own_socket(const config::Address& address, std::uint16_t port) const {
  return std::any_of(listening_.begin(), listening_.end(), [&](const net::tcp::endpoint& own) {
    if (own.port() != port) return false;
    // A wildcard socket is reached by every address of this machine, those that it got meanwhile
    // included.
    return own.address().is_unspecified() ? is_local(address)
                                          : plain_address(own.address()) == reached(address);
  });
}

bool Guard::is_local(const config::Address& address) const {
  return config::is_loopback(address) ||
         std::find(interfaces_.begin(), interfaces_.end(), address) != interfaces_.end();
}

}  // namespace proxy::upstream

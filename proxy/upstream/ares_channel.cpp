#include "proxy/upstream/ares_channel.hpp"

#include <ares.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/system/system_error.hpp>
#include <cstring>
#include <optional>
#include <utility>

#include "proxy/upstream/error.hpp"

namespace proxy::upstream {
namespace {

namespace asio = boost::asio;
using AddressInfo = std::unique_ptr<ares_addrinfo, decltype(&ares_freeaddrinfo)>;

constexpr std::size_t kMaxAddresses = 64;  // used of one answer
constexpr int kFirstTryMs = 1000;          // the second try waits twice as long

Errc error_of(int status) {
  switch (status) {
    case ARES_ENOTFOUND:
    case ARES_EBADNAME:
      return Errc::name_not_found;
    case ARES_ENODATA:
      return Errc::no_address;
    case ARES_ETIMEOUT:
      return Errc::resolver_timed_out;
    case ARES_ESERVFAIL:
    case ARES_EREFUSED:
    case ARES_ENOTIMP:
    case ARES_EFORMERR:
      return Errc::resolver_refused;
    default:
      return Errc::resolver_failed;
  }
}

std::optional<asio::ip::address> address_of(const ares_addrinfo_node& node) {
  if (node.ai_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, node.ai_addr, sizeof v4);
    return asio::ip::address_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (node.ai_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, node.ai_addr, sizeof v6);
    asio::ip::address_v6::bytes_type bytes;
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return asio::ip::address_v6(bytes);
  }
  return std::nullopt;
}

std::chrono::seconds shortest_ttl(const ares_addrinfo& info) {
  int ttl = info.nodes->ai_ttl;
  for (auto* node = info.nodes; node; node = node->ai_next) ttl = std::min(ttl, node->ai_ttl);
  for (auto* alias = info.cnames; alias; alias = alias->next) ttl = std::min(ttl, alias->ttl);
  return std::chrono::seconds(ttl);
}

net::Result<Resolved> found_in(const ares_addrinfo& info) {
  Resolved found;
  for (auto* node = info.nodes; node && found.addresses.size() < kMaxAddresses;
       node = node->ai_next) {
    const auto address = address_of(*node);
    const auto known = std::find(found.addresses.begin(), found.addresses.end(), address);
    if (address && known == found.addresses.end()) found.addresses.push_back(*address);
  }
  if (found.addresses.empty()) return Errc::no_address;
  found.ttl = shortest_ttl(info);
  return found;
}

void on_answer(void* arg, int status, int /*timeouts*/, ares_addrinfo* result) {
  const std::unique_ptr<AresChannel::OnAnswer> answered(static_cast<AresChannel::OnAnswer*>(arg));
  const AddressInfo info(result, &ares_freeaddrinfo);
  if (status == ARES_SUCCESS && info) {
    (*answered)(found_in(*info));
  } else {
    (*answered)(error_of(status));
  }
}

}  // namespace

struct AresChannel::Watch {
  Watch(net::Executor executor, int fd) : descriptor(executor, fd) {}

  asio::posix::basic_stream_descriptor<net::Executor> descriptor;
  struct {
    bool wanted = false;
    bool waiting = false;
  } sides[2];
};

AresChannel::AresChannel(net::Executor executor, const std::string& servers, OnRefusal on_refusal)
    : timer_(executor) {
  ares_options options{};
  options.timeout = kFirstTryMs;
  options.tries = 2;
  // First /etc/hosts, then the servers; c-ares copies the string.
  options.lookups = const_cast<char*>("fb");
  options.sock_state_cb = [](void* self, ares_socket_t fd, int reads, int writes) {
    static_cast<AresChannel*>(self)->socket_changed(fd, reads != 0, writes != 0);
  };
  options.sock_state_cb_data = this;
  constexpr int kSet =
      ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB;
  options.flags = ARES_FLAG_NOCHECKRESP;
  const int flags = on_refusal == OnRefusal::tell ? ARES_OPT_FLAGS : 0;
  if (ares_init_options(&channel_, &options, kSet | flags) != ARES_SUCCESS) {
    throw boost::system::system_error(make_error_code(Errc::resolver_failed));
  }
  if (!servers.empty() && ares_set_servers_ports_csv(channel_, servers.c_str()) != ARES_SUCCESS) {
    ares_destroy(channel_);
    throw boost::system::system_error(make_error_code(Errc::resolver_failed), servers);
  }
}

AresChannel::~AresChannel() {
  ares_destroy(channel_);
}

std::vector<std::string> AresChannel::servers() const {
  std::vector<std::string> all;
  ares_addr_node* first = nullptr;
  if (ares_get_servers(channel_, &first) != ARES_SUCCESS) return all;
  const std::unique_ptr<ares_addr_node, decltype(&ares_free_data)> owned(first, &ares_free_data);
  for (const auto* node = first; node; node = node->next) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    ares_inet_ntop(node->family, &node->addr, text.data(), text.size());
    all.emplace_back(text.data());
  }
  return all;
}

void AresChannel::ask(const std::string& name, OnAnswer answered) {
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  // Sorting would connect a socket to each address; race.hpp orders them.
  hints.ai_flags = ARES_AI_NOSORT;
  auto owned = std::make_unique<OnAnswer>(std::move(answered));
  ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, on_answer, owned.release());
  keep_time();
}

void AresChannel::socket_changed(int fd, bool wants_read, bool wants_write) {
  if (!wants_read && !wants_write) {  // c-ares is about to close the socket
    const auto gone = watches_.extract(fd);
    if (!gone.empty()) gone.mapped()->descriptor.release();
    return;
  }
  auto& watch = watches_[fd];
  if (!watch) watch = std::make_shared<Watch>(timer_.get_executor(), fd);
  watch->sides[0].wanted = wants_read;
  watch->sides[1].wanted = wants_write;
  wait(watch, Direction::read);
  wait(watch, Direction::write);
}

// A released watch belongs to a socket, and perhaps to a channel, that no longer exists.
void AresChannel::wait(const std::shared_ptr<Watch>& watch, Direction direction) {
  auto& side = watch->sides[static_cast<int>(direction)];
  if (!side.wanted || side.waiting) return;
  side.waiting = true;
  const auto kind = direction == Direction::read ? asio::posix::descriptor_base::wait_read
                                                 : asio::posix::descriptor_base::wait_write;
  watch->descriptor.async_wait(kind, [this, watch, direction](net::error_code error) {
    watch->sides[static_cast<int>(direction)].waiting = false;
    if (error || !watch->descriptor.is_open()) return;
    ready(watch->descriptor.native_handle(), direction);
    if (watch->descriptor.is_open()) wait(watch, direction);
  });
}

void AresChannel::ready(int fd, Direction direction) {
  const bool reads = direction == Direction::read;
  ares_process_fd(channel_, reads ? fd : ARES_SOCKET_BAD, reads ? ARES_SOCKET_BAD : fd);
  keep_time();
}

void AresChannel::keep_time() {
  timeval left{};
  if (!ares_timeout(channel_, nullptr, &left)) {
    timer_.cancel();
    return;
  }
  timer_.expires_after(std::chrono::seconds(left.tv_sec) + std::chrono::microseconds(left.tv_usec));
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](net::error_code error) {
    if (error || alive.expired()) return;
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    keep_time();
  });
}

}  // namespace proxy::upstream

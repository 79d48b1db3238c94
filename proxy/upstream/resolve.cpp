#include "proxy/upstream/resolve.hpp"

#include <ares.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/system/system_error.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "config/networks.hpp"
#include "config/text.hpp"
#include "proxy/net/wait_list.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::upstream {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds kShortest{1};
constexpr std::chrono::seconds kLongest{300};
constexpr std::size_t kMaxName = 254;  // RFC 1035 section 2.3.4, including a final dot

// An IPv4-mapped address is an IPv4 one for the rules and for the system, so it becomes one here.
std::optional<net::asio::ip::address> literal(std::string_view host) {
  const auto address = config::parse_address(host);
  if (!address) return std::nullopt;
  if (!config::is_v4(*address)) return net::asio::ip::address_v6(*address);
  return net::asio::ip::make_address_v4(net::asio::ip::v4_mapped,
                                        net::asio::ip::address_v6(*address));
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

// Allows letters, digits and hyphens (RFC 1123 section 2.1), and underscores, which occur in
// practice. Refuses bytes that c-ares would read as an escape or as the end.
bool may_be_name(std::string_view host) {
  return !host.empty() && host.size() <= kMaxName &&
         std::all_of(host.begin(), host.end(), is_name_char);
}

net::error_code error_in(const net::Result<Addresses>& answer) {
  return answer ? net::error_code() : answer.error();
}

// Of a probe.
NameHealth::Probed probed_by(const net::Result<Resolved>& found) {
  if (found) return NameHealth::Probed::good;
  const auto error = found.error();
  if (error == Errc::name_not_found || error == Errc::no_address) return NameHealth::Probed::good;
  return error == Errc::resolver_refused ? NameHealth::Probed::failure
                                         : NameHealth::Probed::silence;
}

using AddressInfo = std::unique_ptr<ares_addrinfo, decltype(&ares_freeaddrinfo)>;

// A hostile name server could send thousands, each of which would be checked and kept.
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

// The answer lives no longer than any alias that led to it.
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
    const auto address = address_in(node->ai_addr);
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
  (*answered)(status == ARES_SUCCESS && info ? found_in(*info) : error_of(status));
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
  // The resolver asks each server twice: a third round would outlast the patience of clients.
  options.tries = 2;
  // First /etc/hosts, then the servers; c-ares copies the string.
  options.lookups = const_cast<char*>("fb");
  options.sock_state_cb = [](void* self, ares_socket_t fd, int reads, int writes) {
    static_cast<AresChannel*>(self)->socket_changed(fd, {reads != 0, writes != 0});
  };
  options.sock_state_cb_data = this;
  constexpr int kSet =
      ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB;
  // Without this flag c-ares treats a refusal as silence and asks the next server.
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
  // Sorting would connect a socket to each address; attempt_order() does that.
  hints.ai_flags = ARES_AI_NOSORT;
  // c-ares may call on_answer() before ares_getaddrinfo() returns, which then owns the callback.
  auto owned = std::make_unique<OnAnswer>(std::move(answered));
  ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, on_answer, owned.release());
  keep_time();
}

void AresChannel::socket_changed(int fd, Wanted wanted) {
  if (!wanted.read && !wanted.write) {  // c-ares is about to close the socket
    const auto gone = watches_.extract(fd);
    if (!gone.empty()) gone.mapped()->descriptor.release();
    return;
  }
  auto& watch = watches_[fd];
  if (!watch) watch = std::make_shared<Watch>(timer_.get_executor(), fd);
  watch->sides[0].wanted = wanted.read;
  watch->sides[1].wanted = wanted.write;
  wait(watch, Direction::read);
  wait(watch, Direction::write);
}

// A released watch belongs to a socket, and perhaps to a channel, that no longer exists.
void AresChannel::wait(const std::shared_ptr<Watch>& watch, Direction direction) {
  auto& side = watch->sides[static_cast<int>(direction)];
  if (!side.wanted || side.waiting) return;
  side.waiting = true;
  const bool reads = direction == Direction::read;
  const auto kind =
      reads ? asio::posix::descriptor_base::wait_read : asio::posix::descriptor_base::wait_write;
  watch->descriptor.async_wait(kind, [this, watch, direction, reads](net::error_code error) {
    watch->sides[static_cast<int>(direction)].waiting = false;
    if (error || !watch->descriptor.is_open()) return;
    const auto fd = watch->descriptor.native_handle();
    ares_process_fd(channel_, reads ? fd : ARES_SOCKET_BAD, reads ? ARES_SOCKET_BAD : fd);
    keep_time();
    if (watch->descriptor.is_open()) wait(watch, direction);
  });
}

// c-ares has no thread and no timer of its own: it resends and gives up only when it is called.
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

// Records what became of questions, and probes the name servers while one is without an answer.
class Resolver::Probe {
 public:
  Probe(net::Executor executor, machine::Clock& clock, const ResolverOptions& options)
      : health_(*options.health),
        clock_(clock),
        channel_(executor, options.servers, OnRefusal::tell),
        timer_(executor) {}

  // A question has left. Probes from kProbePause on, until it or a probe has a reply.
  void asked() {
    health_.asked(clock_.steady());
    watch();
  }
  void answered(const std::string& name, NameHealth::Time asked, const Answer& answer) {
    const auto error = error_in(answer);
    const auto now = clock_.steady();
    if (error == Errc::resolver_timed_out) return health_.timed_out(name, asked, now);
    const bool failed = error == Errc::resolver_failed || error == Errc::resolver_refused;
    failed ? health_.failed(name, now) : health_.answered(now);
  }

 private:
  void watch() {
    if (watching_) return;
    watching_ = true;
    timer_.expires_after(kProbePause);
    timer_.async_wait([this, alive = std::weak_ptr(alive_)](net::error_code error) {
      if (error || alive.expired()) return;
      watching_ = false;
      if (!health_.is_in_doubt()) return;
      ask();
      watch();
    });
  }
  // The root of all names needs no other name server.
  void ask() {
    health_.asked(clock_.steady());
    channel_.ask(".", [this, alive = std::weak_ptr(alive_)](const net::Result<Resolved>& found) {
      if (!alive.expired()) health_.probed(probed_by(found), clock_.steady());
    });
  }

  NameHealth& health_;
  machine::Clock& clock_;
  AresChannel channel_;
  net::Timer timer_;
  bool watching_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // handlers may outlive us
};

// Waiting callers keep the query alive if the Resolver is destroyed.
struct Resolver::Query {
  bool sent = false;         // to the name servers: /etc/hosts did not answer
  NameHealth::Time asked{};  // when it was sent
  std::optional<Answer> answer;
  net::WaitList waiters;
};

Resolver::Resolver(net::Executor executor, machine::Clock& clock, ResolverOptions options)
    : executor_(executor),
      clock_(clock),
      cache_(options.cached_names),
      channel_(executor, options.servers) {
  if (!options.health) return;
  options.health->set_servers(channel_.servers(),
                              options.servers.empty() ? "/etc/resolv.conf" : "");
  probe_ = std::make_unique<Probe>(executor, clock, options);
}

// The end of a question that the destructor ends says nothing of the name servers.
Resolver::~Resolver() {
  probe_.reset();
}

net::Task<net::Result<Addresses>> Resolver::resolve(std::string host,
                                                    std::chrono::milliseconds timeout) {
  if (const auto address = literal(host)) co_return Addresses(1, *address);
  // RFC 4343: names are compared without regard to case, so one entry of the cache serves all
  // spellings.
  host = config::lower_case(host);
  if (!may_be_name(host)) co_return Errc::name_not_found;
  if (const auto* known = cache_.find(host, clock_.steady())) co_return *known;

  const auto query = join(host);
  if (query->answer) co_return *query->answer;
  net::Wakeup answered(executor_);
  const net::WaitList::Waiting waiting(query->waiters, answered);
  co_await answered.wait(timeout);  // *this may not exist any more
  if (query->answer) co_return *query->answer;
  co_return Errc::resolver_timed_out;
}

std::shared_ptr<Resolver::Query> Resolver::join(const std::string& name) {
  const auto [place, is_new] = pending_.try_emplace(name);
  if (!is_new) return place->second;
  auto query = std::make_shared<Query>();
  place->second = query;
  ask(name, query);
  return query;
}

void Resolver::ask(const std::string& name, const std::shared_ptr<Query>& query) {
  channel_.ask(name, [this, name](net::Result<Resolved> found) { finish(name, std::move(found)); });
  const auto& answer = query->answer;
  // An answer that is here already came from /etc/hosts, unless no name server could be asked.
  const bool from_hosts = answer && error_in(*answer) != Errc::resolver_failed;
  if (from_hosts || !probe_) return;
  query->sent = true;
  query->asked = clock_.steady();
  probe_->asked();
  if (answer) probe_->answered(name, query->asked, *answer);
}

void Resolver::finish(const std::string& name, net::Result<Resolved> found) {
  const auto query = pending_.extract(name).mapped();
  query->answer = found ? Answer(std::move(found->addresses)) : Answer(found.error());
  // A name with a TTL of 0 would cost a question for each request; one with a TTL of days would
  // outlive a move of the host.
  const auto ttl = found ? std::clamp(found->ttl, kShortest, kLongest) : kShortest;
  if (query->sent && probe_) probe_->answered(name, query->asked, *query->answer);
  cache_.put(name, *query->answer, clock_.steady() + ttl);
  query->waiters.wake_all();
}

}  // namespace proxy::upstream

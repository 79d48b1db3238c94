#include "proxy/upstream/resolve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/intrusive/list.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "config/networks.hpp"
#include "proxy/upstream/error.hpp"

namespace proxy::upstream {
namespace {

using Clock = std::chrono::steady_clock;
namespace intrusive = boost::intrusive;

constexpr std::chrono::seconds kShortest{1};
constexpr std::chrono::seconds kLongest{300};
constexpr std::size_t kMaxName = 254;  // RFC 1035 section 2.3.4, including a final dot

struct Waiter : intrusive::list_base_hook<intrusive::link_mode<intrusive::auto_unlink>> {
  explicit Waiter(net::Executor executor) : timer(executor) {}
  net::Timer timer;
};

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

void to_lower(std::string& text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
}

}  // namespace

// Waiting callers keep the query alive if the Resolver is destroyed.
struct Resolver::Query {
  bool sent = false;  // to the name servers: /etc/hosts did not answer
  std::optional<Answer> answer;
  intrusive::list<Waiter, intrusive::constant_time_size<false>> waiters;
};

Resolver::Resolver(net::Executor executor, ResolverOptions options)
    : executor_(executor), cache_(options.cached_names), channel_(executor, options.servers) {
  if (!options.health) return;
  const auto servers = channel_.servers();
  options.health->know(fmt::format("{}", fmt::join(servers, " and ")), servers.size() > 1,
                       options.servers.empty() ? "/etc/resolv.conf" : "");
  probe_ = std::make_unique<NameProbe>(executor, options.servers, *options.health);
}

// The end of a question that the destructor ends says nothing of the name servers.
Resolver::~Resolver() {
  probe_.reset();
}

net::Task<net::Result<Addresses>> Resolver::resolve(std::string host,
                                                    std::chrono::milliseconds timeout) {
  if (const auto address = literal(host)) co_return Addresses(1, *address);
  to_lower(host);
  if (!may_be_name(host)) co_return Errc::name_not_found;
  if (const auto* known = cache_.find(host, Clock::now())) co_return *known;

  Waiter waiter(executor_);
  const auto query = join(host);
  if (query->answer) co_return *query->answer;
  query->waiters.push_back(waiter);
  waiter.timer.expires_after(timeout);
  co_await waiter.timer.async_wait(net::as_result);  // *this may not exist any more
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
  const bool from_hosts = answer && error_in(*answer) != Errc::resolver_failed;
  if (from_hosts || !probe_) return;
  query->sent = true;
  probe_->asked();
  if (answer) note(name, *answer);
}

void Resolver::note(const std::string& name, const Answer& answer) {
  const auto error = error_in(answer);
  if (error == Errc::resolver_failed || error == Errc::resolver_refused ||
      error == Errc::resolver_timed_out) {
    probe_->failed(name);
  } else {
    probe_->answered();
  }
}

void Resolver::finish(const std::string& name, net::Result<Resolved> found) {
  const auto query = pending_.extract(name).mapped();
  if (found) {
    query->answer = std::move(found->addresses);
  } else {
    query->answer = found.error();
  }
  const auto ttl = found ? std::clamp(found->ttl, kShortest, kLongest) : kShortest;
  if (query->sent && probe_) note(name, *query->answer);
  cache_.put(name, *query->answer, Clock::now() + ttl);
  for (auto& waiter : query->waiters) waiter.timer.cancel();
}

}  // namespace proxy::upstream

#include "proxy/server/accept.hpp"

#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <boost/beast/http/error.hpp>

#include "proxy/answer/answer.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/server/held_head.hpp"
#include "proxy/server/http1_response.hpp"

namespace proxy::server {

using net::Task;
namespace asio = net::asio;

namespace {

constexpr unsigned kTurn = 16;                // requests in a row
constexpr std::size_t kDrained = 256 * 1024;  // most bytes of an unread body to discard
constexpr std::chrono::seconds kLinger{2};    // for the client to read the last response

bool has_body_to_skip(const policy::Request& request) {
  return request.framing.has_body() || request.asks_for_websocket() || request.is_connect();
}

// Whether a head names the method HEAD, also one that cannot be parsed or has arrived in part. An
// empty line may come first (RFC 9112 2.2).
bool begins_with_head(std::string_view bytes) {
  if (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  return bytes.starts_with("HEAD ");
}

// An IPv4 client of an IPv6 socket is told as an IPv4 address.
std::string text_of(const asio::ip::address& address) {
  const bool mapped = address.is_v6() && address.to_v6().is_v4_mapped();
  if (!mapped) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

// The registry of the listener that has accepted the connection; empty: it has none.
std::string registry_of(const Worker& worker, net::AnySocket& socket) {
  const auto& registries = worker.policy()->rules.registries();
  if (!registries.any_at_listeners()) return {};  // mostly
  net::tcp::endpoint local;
  auto size = static_cast<socklen_t>(local.capacity());
  if (::getsockname(socket.native_handle(), local.data(), &size) != 0) return {};
  const bool is_ip = local.data()->sa_family == AF_INET || local.data()->sa_family == AF_INET6;
  if (!is_ip) return {};
  return std::string(registries.at_listener({text_of(local.address()), local.port()}));
}

// What one connection adds to the totals of its client and of all.
struct Counted {
  Counted(const crowd::ClientTable::Guest& guest, Shared& shared)
      : unread(guest.share().unread_bytes),
        in_transit(shared.crowd.unread_in_transit, &guest.share().transit_bytes),
        leaving(shared.crowd.leaving_bytes) {}

  // The response is cut: what it holds is about to be free.
  void leave() {
    leaving.set(in_transit.get());
    in_transit.set(0);
    unread.set(0);
  }

  crowd::PartOfSum unread;
  crowd::PartOfSum in_transit;
  crowd::PartOfSum leaving;
};

enum class Then { go_on, close };

class Session final : public crowd::SessionList::Item {
 public:
  Session(Worker& worker, net::AnySocket socket, const net::tcp::endpoint& remote,
          const crowd::ClientTable::Guest& guest, policy::Door door)
      : Item(worker.crowd.sessions),
        guest_(guest),
        worker_(worker),
        stream_(std::move(socket), worker.deadlines),
        input_(stream_, worker.buffers),
        response_(stream_, input_, record_,
                  {worker.buffers, worker.shared.pages.transit, worker.shared.cache.clock,
                   worker.policy()->settings.timeouts.body}),
        client_{worker.given.serving,
                response_,
                response_.state(),
                record_,
                upstream::plain_address(remote.address()),
                text_of(remote.address()),
                &guest,
                door,
                &bandwidth_} {}

  // Sets the registry of images for a client that names none. Call this before run().
  void take_registry(std::string registry) { client_.registry = std::move(registry); }
  Task<void> run();

 private:
  void drain() override {
    if (leaves() && now_.doing == Now::Doing::idle) stream_.close();
  }
  // Whether the drain ends this connection.
  [[nodiscard]] bool leaves() const {
    return worker_.shared.instance.draining && client_.door == policy::Door::network;
  }
  crowd::Unread count_unread() override;
  [[nodiscard]] crowd::Unread held_head() const override { return head_.held(); }
  [[nodiscard]] std::optional<crowd::WaitingConnection> waits() const override;
  [[nodiscard]] const crowd::ClientTable::Guest& guest() const override { return guest_; }
  void cut(observe::Cut why) override;
  void note_cut(observe::Cut why);
  void begin_wait();
  bool end_wait(net::error_code gone);
  Task<Then> serve_one();
  using Parsed = http::HeadResult<std::unique_ptr<policy::Request>>;
  Parsed parse(std::size_t size, const http::HeadLimits& limits, std::string& moved);
  using Next = Http1Response::Next;
  void begin_answer(const policy::Request& request, std::size_t head_size, Next next);
  [[nodiscard]] Http1Body::Least least_rate() const;
  Then end_answer(policy::Request& request, const Http1Body& body);
  Task<Then> refuse_head(net::error_code error);
  Task<Then> refuse_parsed(http::HeadError error);
  Task<void> linger();
  void record(std::string_view method, std::string_view url);
  void log(std::string_view method, std::string_view url,
           std::chrono::steady_clock::time_point now);

  const crowd::ClientTable::Guest& guest_;
  Worker& worker_;
  Counted counted_{guest_, worker_.shared};
  net::Stream stream_;
  net::Input input_;
  observe::RequestRecord record_;
  crowd::BandwidthUse bandwidth_{worker_.shared.crowd.bandwidth, guest_.address(),
                                 worker_.io.get_executor()};
  Http1Response response_;
  client::Client client_;
  HeldHead head_{worker_, *this};
  struct Now {
    enum class Doing { idle, head, answering } doing = Doing::answering;
    std::chrono::steady_clock::time_point since{};
  };
  Now now_;
  observe::Cut cut_ = observe::Cut::none;
};

// A connection in the reserve has been let in because its request is there already.
std::optional<crowd::WaitingConnection> Session::waits() const {
  const bool has_request = now_.doing == Now::Doing::answering || guest_.in_reserve();
  if (has_request || cut_ != observe::Cut::none) return std::nullopt;
  return crowd::WaitingConnection{.client = guest_.address(),
                                  .connections = guest_.share().connections,
                                  .idle = now_.doing == Now::Doing::idle,
                                  .since = now_.since};
}

crowd::Unread Session::count_unread() {
  // What was cut counts as leaving (Counted::leave()), and must not count twice.
  if (cut_ != observe::Cut::none) return {};
  const auto unread = response_.unread(worker_.shared.pages.transit);
  counted_.unread.set(unread.bytes);
  counted_.in_transit.set(unread.freed);
  return unread;
}

void Session::note_cut(observe::Cut why) {
  cut_ = why;
  worker_.observed.counters.cuts[static_cast<std::size_t>(why)].add();
}

void Session::cut(observe::Cut why) {
  if (cut_ != observe::Cut::none) return;
  note_cut(why);
  counted_.leave();
  if (now_.doing == Now::Doing::answering) {
    head_.leave();
    client_.state.cut();
    response_.abort();
  } else {
    head_.end();
    stream_.interrupt();
  }
}

Task<void> Session::run() {
  unsigned served = 0;
  bool is_idle = false;  // the last response is whole, and the connection stays open
  for (;;) {
    auto arrived = input_.arrive();
    while (!arrived) {
      begin_wait();
      const bool can_read = co_await stream_.readable();
      arrived = can_read ? input_.arrive() : net::error_code(asio::error::timed_out);
    }
    if (!end_wait(*arrived)) break;
    const auto served_one = co_await serve_one();
    is_idle = served_one == Then::go_on && cut_ == observe::Cut::none;
    if (served_one == Then::close || cut_ != observe::Cut::none || leaves()) break;
    // A client that sends one request after the other must not starve this thread's other clients.
    if (++served % kTurn != 0) continue;
    co_await response_.flush();
    // Behind whatever else is ready on this thread.
    co_await asio::post(worker_.io.get_executor(), net::use_task);
    if (cut_ != observe::Cut::none || leaves()) break;
  }
  co_await response_.flush();
  if (is_idle && leaves()) stream_.close();  // as all idle connections were closed at once
  co_await linger();
}

void Session::begin_wait() {
  if (now_.doing != Now::Doing::idle) now_ = {Now::Doing::idle, worker_.deadlines.now()};
  stream_.expires_after(worker_.policy()->settings.timeouts.keep_alive);
}

// Returns whether there is a request to answer.
bool Session::end_wait(net::error_code gone) {
  now_.doing = Now::Doing::answering;
  if (cut_ != observe::Cut::none) {
    record_.begin(worker_.shared.cache.clock.steady());
    log("", "error:idle-connection", record_.begun);
  }
  return !gone && cut_ == observe::Cut::none && !leaves();
}

Task<Then> Session::serve_one() {
  // Read before the wait: the worker may follow another policy meanwhile, and this policy be
  // destroyed.
  const auto& settings = worker_.policy()->settings;
  const http::HeadLimits limits{settings.limits.head.value, settings.limits.fields};
  stream_.expires_after(settings.timeouts.head);
  head_.begin();
  auto bytes = net::Result<std::string_view>(input_.head_at_hand(limits.bytes).value_or(""));
  if (bytes->empty()) {
    now_ = {Now::Doing::head, worker_.deadlines.now()};
    bytes = co_await input_.head(limits.bytes, &head_);
    head_.end();
  }
  now_.doing = Now::Doing::answering;
  const auto size = bytes ? bytes->size() : 0;
  const bool is_followed = bytes && input_.has_head_after(size);
  const bool head_only = begins_with_head(input_.buffered());
  response_.begin({.head_only = head_only});
  record_.begin(worker_.shared.cache.clock.steady());
  if (!bytes) co_return co_await refuse_head(bytes.error());
  std::string moved;
  const auto parsed = parse(size, limits, moved);
  if (!parsed) co_return co_await refuse_parsed(parsed.error());
  auto& request = **parsed;
  const bool moved_out = !moved.empty();
  if (moved_out) input_.consume(size);
  begin_answer(request, size, is_followed && !moved_out ? Next::is_here : Next::unknown);
  Http1Body body(input_, request.framing, least_rate());
  if (cut_ == observe::Cut::none)
    co_await answer::answer(worker_.shared.pages, client_, request, body);
  const auto then = end_answer(request, body);
  if (!moved_out) input_.consume(size);
  head_.end();
  co_return then;
}

// Parses the head at the front of the input. Views into the input are valid until the next read.
// Before a body or a tunnel's bytes are read, the head is copied to `moved`.
Session::Parsed Session::parse(std::size_t size, const http::HeadLimits& limits,
                               std::string& moved) {
  const auto head = input_.buffered().substr(0, size);
  auto request = policy::parse_request(head, limits, std::move(worker_.spare_url));
  if (request && has_body_to_skip(**request)) {
    moved = head;
    // Once more, since the first one refers to the input's bytes.
    request = policy::parse_request(moved, limits);
  }
  return request;
}

void Session::begin_answer(const policy::Request& request, std::size_t head_size, Next next) {
  const bool may_stay = !worker_.shared.instance.leaving && !worker_.shared.instance.draining;
  // A connection in the reserve is for one request, so that its place is soon free again.
  response_.begin({request.head.minor, request.head.method == "HEAD",
                   request.head.keep_alive() && !guest_.in_reserve() && may_stay, next});
  head_.arrived(head_size, input_.memory());
}

Http1Body::Least Session::least_rate() const {
  const auto& settings = worker_.policy()->settings;
  return {{settings.limits.least_rate.value, settings.timeouts.body / 2},
          worker_.shared.cache.clock};
}

Then Session::end_answer(policy::Request& request, const Http1Body& body) {
  if (body.too_slow()) note_cut(observe::Cut::slow);
  if (client_.state.started && !client_.state.finished) {
    record_.aborted = true;
    response_.abort();
  }
  record(request.head.method, policy::url_for_others(request));
  // The next request then needs no allocation for its URL.
  worker_.spare_url = std::move(request.target).url();
  return response_.may_go_on() && body.finished() ? Then::go_on : Then::close;
}

Task<Then> Session::refuse_parsed(http::HeadError error) {
  co_await reply::refuse_malformed(client_, error);
  record("", "error:invalid-request");
  co_return Then::close;
}

Task<Then> Session::refuse_head(net::error_code error) {
  if (const auto too_large = http::head_error_of(error)) {
    co_await reply::refuse_malformed(client_, *too_large);
    record("", "error:request-too-large");
  } else if (error == asio::error::timed_out && !input_.empty()) {
    reply::Refusal refusal{408, "the request's head took too long", observe::Tag::none, {}};
    co_await reply::refuse_unread(client_, std::move(refusal));
    record("", "error:request-timeout");
  }
  co_return Then::close;
}

// Closes the connection in an orderly way. Closing with unread bytes would reset it, and the client
// might lose the response (RFC 9112 9.6). So this stops sending first, then reads until the client
// has closed too.
Task<void> Session::linger() {
  const bool others_need_it = cut_ != observe::Cut::none && cut_ != observe::Cut::slow;
  // There is no room to be polite in.
  if (others_need_it || guest_.in_reserve()) co_return;
  if (client_.state.started && !client_.state.finished) co_return;  // aborted: nothing to wait for
  stream_.shutdown_send();
  const net::PooledBuffer scratch(worker_.buffers);
  stream_.expires_after(kLinger);
  std::size_t seen = 0;
  while (seen < kDrained) {
    const auto read = co_await stream_.read_some(scratch.all());
    if (!read) break;
    seen += *read;
  }
}

void Session::record(std::string_view method, std::string_view url) {
  const auto now = worker_.shared.cache.clock.steady();
  observe::count_request(worker_.observed.counters, record_, now);
  if (!record_.recipe.empty())
    worker_.shared.observed.mirrors.record(record_, worker_.shared.cache.clock.shown());
  log(method, url, now);
}

void Session::log(std::string_view method, std::string_view url,
                  std::chrono::steady_clock::time_point now) {
  const bool logged = worker_.shared.observed.log.on() && !record_.routine;
  const bool shown = worker_.observed.recent.wants(record_);
  if (!logged && !shown) return;
  record_.cut = cut_;
  const auto took = now - record_.begun;
  const observe::LogEntry entry{.ended = worker_.shared.cache.clock.shown(),
                                .took = std::chrono::duration_cast<std::chrono::milliseconds>(took),
                                .client = client_.address_text,
                                .method = method,
                                .url = url,
                                .record = record_};
  if (logged) worker_.observed.log.add(entry);
  if (shown) worker_.observed.recent.add(entry);
}

}  // namespace

Task<void> run_session(Worker& worker, net::AnySocket socket, net::tcp::endpoint remote,
                       crowd::ClientTable::Guest guest, policy::Door door) {
  auto& shared = worker.shared;
  {
    const auto counted = std::move(guest);
    crowd::PartOfSum late(
        shared.instance.late_connections);  // ends before `counted` is counted no more
    late.set(door == policy::Door::late ? 1 : 0);
    auto registry = registry_of(worker, socket);
    Session session(worker, std::move(socket), remote, counted, door);
    session.take_registry(std::move(registry));
    try {
      co_await session.run();
    } catch (const std::exception& bug) {
      // A fault in one connection must not end the process, which has all the others.
      spdlog::error("a connection from {} failed inside this proxy: {}",
                    remote.address().to_string(), bug.what());
    }
  }
  // Only now, after the block, is the place of the guest free.
  shared.newcomers.others.wake_one();
  shared.newcomers.watching.wake_one();
}

}  // namespace proxy::server

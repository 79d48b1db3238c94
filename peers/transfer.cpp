#include "peers/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>

#include "config/endpoint.hpp"

namespace peers {
namespace {

constexpr std::size_t kMaxHead = std::size_t{64} << 10;
// The most of an error page that is read, only to keep the connection.
constexpr std::size_t kMaxOtherBody = std::size_t{64} << 10;
constexpr std::string_view kUnresolved = "the name of its host was not resolved";
constexpr long kSlowest = 100;  // bytes a second; see PollLimits::stall

// The URL of the proxy itself, so that libcurl sends the origin-form. Squid forwards a request in
// absolute-form unless its host and port are exactly the ones it uses for itself.
std::string place_of(const Peer& peer) {
  return (peer.tls ? "https://" : "http://") + to_text(config::HostPort{peer.host, peer.port});
}

std::optional<std::int64_t> seconds_of(const std::string& date) {
  const std::int64_t seconds = curl_getdate(date.c_str(), nullptr);
  return seconds < 0 ? std::nullopt : std::optional{seconds};
}

void set_limits(CURL* easy, const PollLimits& limits, std::chrono::milliseconds hold) {
  // libcurl knows nothing of a hold: to it the wait is part of the transfer. It wakes the thread
  // for the time-out of the connection, too, even if that has been open for long.
  const auto total = limits.total + hold;
  const auto connect = limits.connect + hold;
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect.count()));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(total.count()));
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 0L);  // until the answer has begun
}

// A plain direct request: no redirects, no other protocol, no proxy from the environment.
void set_route(CURL* easy, const std::string& agent) {
  curl_easy_setopt(easy, CURLOPT_USERAGENT, agent.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT,
                   1L);  // the destructor does not wait for name resolution
  // OpenSSL's own variables, which connections for clients heed, too. libcurl does not.
  if (const char* const file = std::getenv("SSL_CERT_FILE"); file && *file) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, file);
  }
  if (const char* const folder = std::getenv("SSL_CERT_DIR"); folder && *folder) {
    curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
  }
}

// Whether a transfer has ended before the address of its host was known.
bool ended_nameless(CURL* easy, CURLcode code) {
  curl_off_t known = 0;
  curl_easy_getinfo(easy, CURLINFO_NAMELOOKUP_TIME_T, &known);
  return code == CURLE_COULDNT_RESOLVE_HOST || (code == CURLE_OPERATION_TIMEDOUT && known == 0);
}

short events_of(int what) {
  const int in = (what & CURL_POLL_IN) != 0 ? POLLIN : 0;
  const int out = (what & CURL_POLL_OUT) != 0 ? POLLOUT : 0;
  return static_cast<short>(in | out);
}

int ready_of(short events) {
  const int in = (events & POLLIN) != 0 ? CURL_CSELECT_IN : 0;
  const int out = (events & POLLOUT) != 0 ? CURL_CSELECT_OUT : 0;
  const int error = (events & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? CURL_CSELECT_ERR : 0;
  return in | out | error;
}

}  // namespace

Sockets::Sockets() : multi_(curl_multi_init()) {
  curl_multi_setopt(multi(), CURLMOPT_SOCKETFUNCTION, &Sockets::follow);
  curl_multi_setopt(multi(), CURLMOPT_SOCKETDATA, this);
}

int Sockets::follow(CURL*, curl_socket_t socket, int events, void* self, void*) noexcept {
  auto& waits = static_cast<Sockets*>(self)->waits_;
  const auto known = std::find_if(waits.begin(), waits.end(),
                                  [socket](const pollfd& one) { return one.fd == socket; });
  if (events == CURL_POLL_REMOVE) {
    if (known != waits.end()) waits.erase(known);
  } else if (known != waits.end()) {
    known->events = events_of(events);
  } else {
    waits.push_back({.fd = socket, .events = events_of(events), .revents = 0});
  }
  return 0;
}

std::chrono::milliseconds Sockets::until_timer(std::chrono::milliseconds at_most) const {
  long left = -1;  // none is set
  curl_multi_timeout(multi(), &left);
  return left < 0 ? at_most : std::min(at_most, std::chrono::milliseconds{left});
}

void Sockets::serve() {
  ready_.clear();
  if (::poll(waits_.data(), waits_.size(), 0) > 0) {
    std::copy_if(waits_.begin(), waits_.end(), std::back_inserter(ready_),
                 [](const pollfd& one) { return one.revents != 0; });
  }
  int running = 0;
  for (const pollfd& one : ready_) {
    curl_multi_socket_action(multi(), one.fd, ready_of(one.revents), &running);
  }
  if (until_timer(std::chrono::milliseconds{1}).count() > 0) return;
  curl_multi_socket_action(multi(), CURL_SOCKET_TIMEOUT, 0, &running);
}

bool Sockets::wait(int first, int second, std::chrono::milliseconds at_most) {
  ready_ = waits_;
  ready_.push_back({.fd = second, .events = POLLIN, .revents = 0});
  ready_.push_back({.fd = first, .events = POLLIN, .revents = 0});
  ::poll(ready_.data(), ready_.size(), static_cast<int>(until_timer(at_most).count()));
  return (ready_.back().revents & POLLIN) != 0;
}

Transfer::Transfer(Transfers& all, const Peer& peer, const Request& request)
    : all_(all),
      easy_(curl_easy_init()),
      silence_(request.silence),
      silent_until_(all.now() + request.hold + request.silence),
      max_body_(request.max_body) {
  if (!easy_) throw std::bad_alloc();
  set_route(handle(), all.agent);
  set_limits(handle(), all.limits, request.hold);
  curl_easy_setopt(handle(), CURLOPT_HEADERFUNCTION, &Transfer::on_head);
  curl_easy_setopt(handle(), CURLOPT_HEADERDATA, this);
  curl_easy_setopt(handle(), CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  curl_easy_setopt(handle(), CURLOPT_WRITEDATA, this);
  fields_.reset(curl_slist_append(nullptr, fmt::format("Accept: {}", request.accept).c_str()));
  if (!request.etag.empty()) {
    curl_slist_append(fields_.get(), ("If-None-Match: " + request.etag).c_str());
  }
  if (!peer.authorization.empty()) {
    curl_slist_append(fields_.get(), ("Proxy-Authorization: " + peer.authorization).c_str());
  }
  curl_easy_setopt(handle(), CURLOPT_URL, (place_of(peer) + request.target).c_str());
  curl_easy_setopt(handle(), CURLOPT_HTTPHEADER, fields_.get());
  curl_multi_add_handle(all.multi, handle());
}

Transfer::~Transfer() {
  curl_multi_remove_handle(all_.multi, handle());
  all_.bytes -= response_.body.size();
}

std::string Transfer::finish(CURLcode code) {
  if (!refused_.empty()) return std::string(refused_);
  // libcurl's code for a line that neither has a name nor continues a field.
  if (code == CURLE_BAD_FUNCTION_ARGUMENT) return "a malformed line in the head";
  unresolved_ = ended_nameless(handle(), code);
  if (unresolved_) return std::string(kUnresolved);
  if (code != CURLE_OK) return curl_easy_strerror(code);
  read_head();
  return {};
}

std::chrono::milliseconds Transfer::waited() const {
  curl_off_t sent = 0;
  curl_off_t answered = 0;
  curl_easy_getinfo(handle(), CURLINFO_PRETRANSFER_TIME_T, &sent);
  curl_easy_getinfo(handle(), CURLINFO_STARTTRANSFER_TIME_T, &answered);
  const std::chrono::microseconds took(answered - sent);
  return std::chrono::duration_cast<std::chrono::milliseconds>(took);
}

std::optional<config::Address> Transfer::address() const {
  const char* text = nullptr;
  if (curl_easy_getinfo(handle(), CURLINFO_PRIMARY_IP, &text) != CURLE_OK || text == nullptr) {
    return std::nullopt;
  }
  return config::parse_address(text);
}

// Returns a count that makes libcurl give up, since libcurl never passes 0 bytes.
std::size_t Transfer::refuse(std::string_view why) {
  refused_ = why;
  return 0;
}

// While libcurl watches the speed of a transfer, it wakes the thread each second for it. A held
// poll is silent on purpose, so its speed is watched only once the answer has begun.
void Transfer::record_sign_of_life() {
  silent_until_ = all_.now() + silence_;
  if (head_bytes_ > 0) return;
  curl_easy_setopt(handle(), CURLOPT_LOW_SPEED_LIMIT, kSlowest);
  curl_easy_setopt(handle(), CURLOPT_LOW_SPEED_TIME, static_cast<long>(all_.limits.stall.count()));
}

std::size_t Transfer::on_head(char* bytes, std::size_t, std::size_t count, void* self) noexcept {
  return static_cast<Transfer*>(self)->read_line({bytes, count});
}

// libcurl 7.88 limits no response head (CVE-2023-38039). It also joins a line that begins with
// white space to the field before it, even to a field of an earlier head. Via or ETag would then
// have a value that the peer never sent.
std::size_t Transfer::read_line(std::string_view line) {
  record_sign_of_life();
  head_bytes_ += line.size();
  if (head_bytes_ > kMaxHead) return refuse("head larger than 64 KiB");
  const bool continues = line.starts_with(' ') || line.starts_with('\t');
  if (continues && !in_field_) return refuse("a line of the head continues no field");
  in_field_ = continues || !(line.starts_with("HTTP/") || line == "\r\n" || line == "\n");
  return line.size();
}

std::size_t Transfer::on_body(char* bytes, std::size_t, std::size_t count, void* self) noexcept {
  return static_cast<Transfer*>(self)->read_body(bytes, count);
}

std::size_t Transfer::read_body(const char* bytes, std::size_t count) {
  record_sign_of_life();
  received_ += count;
  if (status() != 200) {
    return received_ <= kMaxOtherBody ? count : refuse("error page larger than 64 KiB");
  }
  curl_off_t announced = -1;
  curl_easy_getinfo(handle(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
  const auto whole = static_cast<std::size_t>(std::max<curl_off_t>(announced, 0));
  const bool crowded = all_.bytes + count > all_.limit;
  if (std::max(received_, whole) > max_body_ || (crowded && received_ > all_.share)) {
    return refuse(kTooLarge);
  }
  response_.body.insert(response_.body.end(), bytes, bytes + count);
  all_.bytes += count;
  return count;
}

// The last field of this name: the nearest sender added it.
std::string Transfer::field(const char* name) const {
  curl_header* found = nullptr;
  if (curl_easy_header(handle(), name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK) return {};
  if (found->amount > 1) {
    curl_easy_header(handle(), name, found->amount - 1, CURLH_HEADER, -1, &found);
  }
  return found->value;
}

long Transfer::status() const {
  long status = 0;
  curl_easy_getinfo(handle(), CURLINFO_RESPONSE_CODE, &status);
  return status;
}

void Transfer::read_head() {
  response_.status = status();
  response_.server = field("Server");
  response_.via = field("Via");
  response_.epochs = field(kEpochField.data());
  response_.cache_status = field("Cache-Status");
  response_.x_cache = field("X-Cache");
  response_.x_cache_lookup = field("X-Cache-Lookup");
  response_.etag = field("ETag");
  const auto expires = seconds_of(field("Expires"));
  if (!expires) return;  // a Hearsay's; to read its Date costs a tenth of a poll
  const auto date = seconds_of(field("Date"));
  if (date) response_.expires_in = std::chrono::seconds{*expires - *date};
}

}  // namespace peers

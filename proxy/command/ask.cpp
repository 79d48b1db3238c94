#include "proxy/command/ask.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <new>

#include "config/load.hpp"
#include "proxy/version.hpp"

namespace proxy::command {
namespace {

// Within a site a connection takes milliseconds. TCP alone would wait minutes for a machine that is
// off.
constexpr long kConnectLimit = 5'000;  // milliseconds
constexpr std::size_t kLongestHead = std::size_t{64} << 10;

// What libcurl's callbacks are given. Each breaks the transfer off by another number than `count`.
struct Receiver {
  CURL* easy;
  const HttpRequest& request;
  const TakeBody& take;
  std::size_t head = 0;
  bool head_only = false;

  [[nodiscard]] std::string field(const char* name) const {
    curl_header* found = nullptr;
    std::string value;
    for (std::size_t i = 0; curl_easy_header(easy, name, i, CURLH_HEADER, -1, &found) == CURLHE_OK;
         ++i) {
      value.append(i > 0 ? ", " : "").append(found->value);
    }
    return value;
  }

  // A line of the head. Whether more is wanted after it.
  bool goes_on_after(std::string_view line) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    const bool is_end = line == "\r\n" && status >= 200;
    if (!is_end || !request.take_head) return true;
    head_only = !request.take_head(status, [this](const char* name) { return field(name); });
    return !head_only;
  }

  static std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* into) noexcept try {
    const auto& self = *static_cast<Receiver*>(into);
    long status = 0;
    curl_easy_getinfo(self.easy, CURLINFO_RESPONSE_CODE, &status);
    return self.take({bytes, count}, status) ? count : 0;
  } catch (const std::bad_alloc&) {
    // An exception must not pass through libcurl, which is C.
    return 0;
  }

  // libcurl 7.88 sets no limit to the length of a head (CVE-2023-38039).
  static std::size_t on_head(char* line, std::size_t, std::size_t count, void* into) noexcept try {
    auto& self = *static_cast<Receiver*>(into);
    self.head += count;
    return self.head > kLongestHead || !self.goes_on_after({line, count}) ? 0 : count;
  } catch (const std::bad_alloc&) {
    return 0;
  }

  static int on_progress(void* into, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
    return *static_cast<Receiver*>(into)->request.gives_up ? 1 : 0;
  }
};

// Any server may answer at the address that a person has typed.
constexpr std::size_t kLongest = std::size_t{64} << 20;

// Whether this process may use the folder of the default socket says nothing of the proxy.
Answered<RunningProxy> running_proxy_in(const std::string& file) {
  const auto settings = read_settings(file);
  if (!settings) return Unanswered{kUsage, settings.error().text};
  const auto socket = settings->process.control.value_or(config::kDefaultControl);
  if (!socket.empty()) return RunningProxy{socket, {}};
  return Unanswered{kUsage, fmt::format("{} turns the control socket off (\"control\": \"none\"); "
                                        "--url http://HOST:PORT asks over the network",
                                        file)};
}

std::string nobody_at_socket(const std::string& socket, const HttpOutcome& outcome) {
  const long cause = outcome.system_error;
  if (cause == EACCES || cause == EPERM) {
    return fmt::format(
        "{}: permission denied: the socket is for the proxy's user and group; run this as one of "
        "them, or with sudo",
        socket);
  }
  if (cause == ENOENT || cause == ECONNREFUSED || cause == ENOTDIR) {
    return fmt::format(
        "no proxy listens at {}: is it running? --socket names another socket, --config the "
        "settings that name it, --url a proxy elsewhere",
        socket);
  }
  return fmt::format("the proxy at {}: {}", socket, outcome.reason);
}

std::string why_unanswered(const HttpOutcome& outcome, const RunningProxy& proxy,
                           std::chrono::seconds patience) {
  // Only we end a transfer so, when the page has outgrown its limit.
  if (outcome.code == CURLE_WRITE_ERROR) {
    return fmt::format("the page of {} is too long", proxy.name());
  }
  if (!outcome.connected && proxy.url.empty()) return nobody_at_socket(proxy.socket, outcome);
  if (!outcome.connected) {
    return fmt::format("no proxy answers at {}: {}: is it running, and may this machine reach it?",
                       proxy.url, outcome.reason);
  }
  if (outcome.code == CURLE_OPERATION_TIMEDOUT) {
    return fmt::format("the proxy at {} has been silent for {} s: it hangs, or is stopped",
                       proxy.name(), patience.count());
  }
  return fmt::format("the proxy at {}: {}", proxy.name(), outcome.reason);
}

}  // namespace

HttpOutcome transfer(const HttpRequest& request, const TakeBody& take) {
  const peers::CurlEasy owner(curl_easy_init());
  const peers::CurlList fields(curl_slist_append(nullptr, request.field.c_str()));
  const bool has_another = !request.another_field.empty();
  if (!owner || !fields) throw std::bad_alloc();
  if (has_another && !curl_slist_append(fields.get(), request.another_field.c_str()))
    throw std::bad_alloc();
  CURL* const easy = owner.get();
  Receiver receiver{easy, request, take};
  std::array<char, CURL_ERROR_SIZE> reason{};
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  if (!request.socket.empty()) {
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, request.socket.c_str());
  }
  if (!request.target.empty()) {
    curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, request.target.c_str());
  }
  if (request.gives_up) {
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, &Receiver::on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, &receiver);
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields.get());
  curl_easy_setopt(easy, CURLOPT_USERAGENT, std::string(kProduct).c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, request.protocols);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  // The environment may name as http_proxy the very proxy that is asked.
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  // A redirect would take our order, and the field that makes it valid, to another server.
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  // Signals are ours: libcurl would set handlers of its own to limit the look-up of names.
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectLimit);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.limit.count()));
  // A byte per second is no silence: libcurl measures the mean speed of the last seconds.
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.patience.count()));
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, reason.data());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Receiver::on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &receiver);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Receiver::on_head);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &receiver);
  if (request.body) {
    // The size first, or libcurl takes the body to end at its first NUL.
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body->size()));
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request.body->c_str());
  }
  HttpOutcome outcome;
  outcome.code = curl_easy_perform(easy);
  outcome.head_only = receiver.head_only;
  outcome.reason = reason[0] != '\0' ? reason.data() : curl_easy_strerror(outcome.code);
  // libcurl has no flag that says whether it connected; a connection takes some microseconds.
  curl_off_t microseconds = 0;
  curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &microseconds);
  outcome.connected = microseconds > 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &outcome.status);
  curl_easy_getinfo(easy, CURLINFO_HEADER_SIZE, &outcome.head_bytes);
  curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &outcome.system_error);
  return outcome;
}

std::string percent_encoded(std::string_view text) {
  if (text.empty()) return {};
  const auto size = static_cast<int>(text.size());
  const peers::CurlText encoded(curl_easy_escape(nullptr, text.data(), size));
  if (!encoded) throw std::bad_alloc();
  return encoded.get();
}

Result<config::Settings> read_settings(const std::string& file) {
  auto settings = config::load_file(file);
  if (settings) return std::move(*settings);
  std::string text = "the settings are wrong";
  for (const auto& error : settings.error()) text += '\n' + error.where + ": " + error.what;
  return Trouble{text};
}

Answered<RunningProxy> running_proxy(const RunningProxyOptions& options) {
  if (!options.config.empty()) return running_proxy_in(options.config);
  if (!options.socket.empty()) return RunningProxy{options.socket, {}};
  if (options.url.empty()) return RunningProxy{config::kDefaultControl, {}};
  return RunningProxy{{}, options.url.substr(0, options.url.find_last_not_of('/') + 1)};
}

// Own pages judge the Host field, and a request through the socket is for this machine.
HttpRequest request_to(const RunningProxy& proxy, const PageRequest& page) {
  return {.url = (proxy.url.empty() ? "http://localhost" : proxy.url) + page.target,
          .socket = proxy.socket,
          .body = page.body,
          .patience = page.patience};
}

PageRequest view(std::string target) {
  return {.target = std::move(target), .patience = std::chrono::seconds(5)};
}

Answered<Page> ask(const RunningProxy& proxy, const PageRequest& request) {
  Page page;
  const auto outcome = transfer(request_to(proxy, request), [&page](std::string_view bytes, long) {
    if (page.body.size() + bytes.size() > kLongest) return false;
    page.body.append(bytes);
    return true;
  });
  if (outcome.code == CURLE_URL_MALFORMAT || outcome.code == CURLE_UNSUPPORTED_PROTOCOL) {
    return Unanswered{kUsage, fmt::format("--url {}: expected http://HOST:PORT", proxy.url)};
  }
  if (outcome.code != CURLE_OK) {
    return Unanswered{kUnreachable, why_unanswered(outcome, proxy, request.patience)};
  }
  page.status = outcome.status;
  page.bytes = static_cast<std::uint64_t>(outcome.head_bytes) + page.body.size();
  return page;
}

Unanswered refusal(const RunningProxy& proxy, const Page& page) {
  const auto words = page.body.substr(0, page.body.find_last_not_of("\r\n") + 1);
  return {kRefusal, fmt::format("the proxy at {} answered {}: {}", proxy.name(), page.status,
                                escaped(words, 4096))};
}

Answered<std::string> ask_for(const RunningProxy& proxy, const PageRequest& request) {
  auto page = ask(proxy, request);
  if (!page) return page.error();
  if (page->status != 200) return refusal(proxy, *page);
  return std::move(page->body);
}

}  // namespace proxy::command

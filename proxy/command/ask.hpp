// HTTP requests to a proxy, and those for one of its own pages.
#pragma once

#include <atomic>
#include <boost/system/result.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/settings.hpp"
#include "peers/curl.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

// The value of a field of the response; empty: it has none.
using FieldOf = std::function<std::string(const char* name)>;

struct HttpRequest {
  std::string url;
  std::string target = {};             // in place of the URL's path: for a proxy, the absolute URL
  std::string socket = {};             // a Unix socket to connect to instead of the URL's host
  std::string field = "X-Hearsay: 1";  // shows an admin's purpose
  std::string another_field = {};      // empty: none
  std::optional<std::string> body = {};  // with a body, even an empty one: POST; else GET
  std::chrono::seconds patience{0};      // the server may be silent for so long; 0: for ever
  std::chrono::milliseconds limit{0};    // of the whole transfer; 0: none
  const char* protocols = "http";
  // Given the head of a final response, unless null. If it returns false, the transfer ends there.
  std::function<bool(long status, const FieldOf& field)> take_head = {};
  const std::atomic<bool>* gives_up = nullptr;  // once set, the transfer ends
};

struct HttpOutcome {
  CURLcode code = CURLE_OK;
  std::string reason;      // why the transfer failed, for a person
  long status = 0;         // of the response
  long head_bytes = 0;     // of the response
  bool connected = false;  // whether the server was connected to
  long system_error = 0;   // errno of a connection that failed
  bool head_only = false;  // the request's take_head() wanted no body
};

// Receives a part of the body, with the status of the response. If it returns false, or if memory
// runs out, the transfer ends with CURLE_WRITE_ERROR.
using TakeBody = std::function<bool(std::string_view bytes, long status)>;

// Blocks. Fails if the server is not connected to within 5 s, or sends a head of more than 64 KiB.
// Uses no other proxy and follows no redirect. Throws std::bad_alloc.
HttpOutcome transfer(const HttpRequest& request, const TakeBody& take);

// Encodes a text as the value of a parameter in a URL.
std::string percent_encoded(std::string_view text);

// Exit codes of the subcommands that ask a running proxy.
inline constexpr int kRefusal = 1;      // the proxy says no, or what it says is no good news
inline constexpr int kUsage = 2;        // the command line or the settings file is wrong
inline constexpr int kUnreachable = 3;  // no proxy answers

// Why there is no answer: the exit code, and a text for a person with what to do.
struct Unanswered {
  Unanswered() = default;
  Unanswered(int code, std::string why) : exit_code(code), text(std::move(why)) {}

  int exit_code = kUnreachable;
  std::string text;
};

template <class T>
using Answered = boost::system::result<T, Unanswered>;

// Where a proxy is asked, as the command line says. At most one is given.
struct RunningProxyOptions {
  std::string socket = {};
  std::string config = {};  // a settings file, whose setting `control` names the socket
  std::string url = {};
};

// Where a running proxy is asked. One of the two is empty.
struct RunningProxy {
  std::string socket;  // of this machine
  std::string url;     // of the beginning of the pages, without a slash at its end

  // The name of the proxy in messages.
  [[nodiscard]] const std::string& name() const { return url.empty() ? socket : url; }
};

// Finds the proxy that the options name; without options, the one with the socket at
// config::kDefaultControl. Fails with kUsage if the settings have errors, or turn the socket off.
Answered<RunningProxy> running_proxy(const RunningProxyOptions& options);

// The settings in the file. Trouble has a line for each error in them.
Result<config::Settings> read_settings(const std::string& file);

struct PageRequest {
  std::string target;                    // path and query
  std::optional<std::string> body = {};  // with a body, even an empty one: POST; else GET
  // The proxy may be silent for so long. The default suits orders that take long, such as a purge
  // of many URLs.
  std::chrono::seconds patience{60};
};

// The page as an HTTP request to this proxy.
HttpRequest request_to(const RunningProxy& proxy, const PageRequest& page);

// The request for a page that a proxy has at hand: if it is silent for 5 s, it hangs.
PageRequest view(std::string target);

struct Page {
  long status = 0;
  std::string body;
  std::uint64_t bytes = 0;  // of the response, head included
};

// Waits for the whole page. Fails with kUnreachable if no proxy answers, if the page is cut or
// longer than 64 MiB, and if the proxy is silent for longer than the request's patience. Throws
// std::bad_alloc.
Answered<Page> ask(const RunningProxy& proxy, const PageRequest& request);

// The body of a page with status 200. Any other status fails with kRefusal, and the proxy's words.
Answered<std::string> ask_for(const RunningProxy& proxy, const PageRequest& request);

// The failure that an error page of the proxy means.
Unanswered refusal(const RunningProxy& proxy, const Page& page);

}  // namespace proxy::command

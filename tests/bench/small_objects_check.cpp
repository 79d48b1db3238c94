// What a small stored object costs beyond its own bytes: fills the memory tier of the program with
// objects that have a usual head, and compares its memory with the bytes of heads and bodies as
// stored. Fails if the ratio is above a bound.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <thread>
#include <vector>

#include "tests/bench/arguments.hpp"
#include "tests/bench/brief_origin.hpp"
#include "tests/support/proxy_process.hpp"

namespace {

using support::json;

// Ends each body, and is nowhere else in a message, so that responses need no parser.
constexpr char kEnd = '\1';

std::ptrdiff_t count_ends(const std::string& bytes) {
  return std::count(bytes.begin(), bytes.end(), kEnd);
}

// As nginx answers for a file.
std::string file_response(std::size_t body_bytes) {
  return support::head_text("HTTP/1.1 200 OK", {{"Server", "nginx/1.22.1"},
                                                {"Date", support::http_date()},
                                                {"Content-Type", "application/octet-stream"},
                                                {"Content-Length", std::to_string(body_bytes)},
                                                {"Last-Modified", "Mon, 01 Jan 2024 10:00:00 GMT"},
                                                {"Connection", "keep-alive"},
                                                {"ETag", "\"659290e0-400\""},
                                                {"Cache-Control", "max-age=86400"},
                                                {"Accept-Ranges", "bytes"}}) +
         std::string(body_bytes - 1, 'x') + kEnd;
}

// Requests the objects [first, last), some at a time.
void request(std::uint16_t port, const bench::BriefOrigin& origin, std::uint64_t first,
             std::uint64_t last) {
  constexpr std::uint64_t kAtOnce = 64;
  auto socket = support::Socket::connect(port);
  while (first < last) {
    const auto end = std::min(first + kAtOnce, last);
    auto left = static_cast<std::ptrdiff_t>(end - first);
    std::string requests;
    for (; first < end; ++first) requests += support::request_text("GET", origin.url(first));
    socket.write(requests);
    while (left > 0) {
      const auto bytes = socket.read_some();
      if (bytes.empty()) throw std::runtime_error("the proxy closed a connection");
      left -= count_ends(bytes);
    }
  }
}

// The same over several connections.
void fill(std::uint16_t port, const bench::BriefOrigin& origin, std::uint64_t first,
          std::uint64_t last) {
  constexpr std::uint64_t kConnections = 16;
  const auto bound = [&](std::uint64_t i) { return first + (last - first) * i / kConnections; };
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < kConnections; ++i) {
    threads.emplace_back([&, i] { request(port, origin, bound(i), bound(i + 1)); });
  }
}

// The bytes of the head that the proxy keeps of this object: those of a hit, without the lines that
// the proxy adds to each hit.
std::size_t stored_head_bytes(std::uint16_t port, const std::string& url) {
  const auto hit = support::Client(port).get(url);
  std::size_t bytes = hit.start_line.size() + 2;
  for (const auto& [name, value] : hit.fields) {
    if (name == "Content-Length" || name == "Age" || name == "Cache-Status") continue;
    bytes += name.size() + value.size() + 4;
  }
  return bytes;
}

json settings(const std::string& memory) {
  return {{"cache", {{"memory", memory}}}, {"log", {{"access", "none"}}}, {"threads", 2}};
}

// Returns whether the ratio is within the bound.
bool check(std::uint64_t objects, std::uint64_t body_bytes, const std::string& memory,
           double most) {
  const bench::BriefOrigin origin(file_response(body_bytes));
  const support::ProxyProcess proxy(settings(memory));
  constexpr std::uint64_t kBefore = 20'000;  // for buffers and whatever else a busy proxy has
  fill(proxy.port(), origin, objects, objects + kBefore);
  const auto used_before = proxy.metric("hearsay_memory_used_bytes");
  const auto before = proxy.anonymous_bytes();
  fill(proxy.port(), origin, 0, objects);
  const auto grown = static_cast<double>(proxy.anonymous_bytes() - before);
  const auto used = proxy.metric("hearsay_memory_used_bytes") - used_before;
  const auto entries = proxy.metric("hearsay_cache_entries") - kBefore;
  const auto head = stored_head_bytes(proxy.port(), origin.url(0));
  const auto bytes = static_cast<double>(objects * (head + body_bytes));
  const auto each = [objects](double all) { return all / static_cast<double>(objects); };
  fmt::print(
      "{} of {} objects kept, each {} bytes of head and {} of body; resident {:.0f} bytes each, "
      "counted against cache.memory {:.0f}; resident over stored bytes {:.3f} (bound {}), resident "
      "over counted {:.3f}\n",
      entries, objects, head, body_bytes, each(grown), each(used), grown / bytes, most,
      grown / used);
  return entries >= static_cast<double>(objects) && grown <= most * bytes;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t objects = 1'000'000;
  std::uint64_t body_bytes = 1024;
  double most = 1.25;
  std::string memory = "4GiB";
  const auto exit_code =
      bench::parse(argc, argv, "The memory of small stored objects over their bytes",
                   {
                       {"--objects", &objects, "to store"},
                       {"--body", &body_bytes, "bytes of each body"},
                       {"--memory", &memory, "cache.memory"},
                       {"--most", &most, "resident bytes over stored bytes"},
                   });
  if (exit_code) return *exit_code;
  try {
    return check(objects, body_bytes, memory, most) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "small_objects_check: " << error.what() << '\n';
    return 1;
  }
}

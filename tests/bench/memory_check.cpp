// The proxy's memory in two cases that should need little: many idle connections, and a download
// larger than the cache. Fails if an idle connection takes more than kPerConnection, or if too
// little of what the connections took goes back to the system after their end.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "tests/bench/arguments.hpp"
#include "tests/bench/descriptor_limit.hpp"
#include "tests/support/await.hpp"
#include "tests/support/proxy_process.hpp"
#include "tests/support/scripted_origin.hpp"

namespace {

using support::Client;
using support::json;

constexpr std::size_t kPiece = 1 << 20;
constexpr std::uint64_t kMiB = 1 << 20;

enum class Form { sized, chunked };

// Answers each connection with one cacheable body of `bytes` bytes, generated while it is sent.
class EndlessOrigin {
 public:
  EndlessOrigin(Form form, std::uint64_t bytes)
      : form_(form), bytes_(bytes), thread_([this] { serve_all(); }) {}
  EndlessOrigin(const EndlessOrigin&) = delete;
  EndlessOrigin& operator=(const EndlessOrigin&) = delete;
  ~EndlessOrigin() {
    listener_.shut_down();
    thread_.join();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(listener_.port()) + "/x"; }

 private:
  void serve_all() {
    while (auto socket = listener_.accept()) serve(*socket);
  }

  void serve(support::Socket& socket) const {
    support::Incoming<support::Request> incoming(socket);
    if (!incoming.head() || !socket.write(head())) return;
    std::string piece(kPiece, 'x');
    if (form_ == Form::chunked) piece = support::chunk(piece);
    for (std::uint64_t sent = 0; sent < bytes_; sent += kPiece) {
      if (!socket.write(piece)) return;
    }
    if (form_ == Form::chunked) socket.write(support::kLastChunk);
  }

  std::string head() const {
    support::Fields fields{{"Cache-Control", "max-age=3600"}, {"Connection", "close"}};
    if (form_ == Form::sized) {
      fields.emplace_back("Content-Length", std::to_string(bytes_));
    } else {
      fields.emplace_back("Transfer-Encoding", "chunked");
    }
    return support::head_text("HTTP/1.1 200 OK", fields);
  }

  Form form_;
  std::uint64_t bytes_;
  support::Listener listener_;
  std::thread thread_;
};

json settings() {
  return {{"threads", 1},
          {"digest", nullptr},
          {"cache", {{"memory", "64MiB"}}},
          {"log", {{"access", "none"}}}};
}

std::uint64_t resident_mib(const support::ProxyProcess& proxy) {
  return proxy.resident_bytes() / kMiB;
}

// A peak of connections, which are idle for a second and then end. They come from many addresses,
// as one client may not have so many.
class Peak {
 public:
  explicit Peak(std::size_t connections) : connections_(connections) {
    origin_.on("/1k", support::cacheable(std::string(1024, 'x')));
    connect(kBeforehand);
    clients_.clear();
  }

  bool is_modest() {
    const auto before = proxy_.resident_bytes();
    connect(connections_);
    std::this_thread::sleep_for(kIdle);  // idle connections are what is measured
    const auto peak = proxy_.resident_bytes();
    const auto open = proxy_.metric("hearsay_connections");
    clients_.clear();
    const auto gone_back = [&] { return proxy_.resident_bytes() <= before + most_kept(); };
    const bool goes_back = support::await(gone_back, kPatience);
    const auto took = peak - std::min(peak, before);
    fmt::print(
        "{} idle connections ({} open) take {} bytes each (at most {}); of {} KiB, {} stay\n",
        connections_, open, took / connections_, kPerConnection, took >> 10,
        (proxy_.resident_bytes() - before) >> 10);
    return open > static_cast<double>(connections_) && goes_back &&
           took <= connections_ * kPerConnection + kSteps;
  }

 private:
  static constexpr std::size_t kBeforehand =
      100;  // so that all that a first request needs is there
  static constexpr std::chrono::milliseconds kIdle{1500};
  static constexpr std::chrono::seconds kPatience{30};
  static constexpr std::uint64_t kPerConnection = 4096;
  static constexpr std::uint64_t kSteps = kMiB;  // by which tables and the allocator's caches grow

  // A tenth, and what a thread keeps for the next connections: read buffers and frames of
  // coroutines (BufferPool::kKept, FrameMemory::kKept).
  [[nodiscard]] std::uint64_t most_kept() const {
    return connections_ * kPerConnection / 10 + 5 * kMiB;
  }

  void connect(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto from = static_cast<std::uint8_t>(1 + i % 200);
      clients_.push_back(std::make_unique<Client>(proxy_.port(), from));
      if (clients_.back()->get(origin_.url("/1k")).status != 200)
        throw std::runtime_error("no 200");
    }
  }

  const std::size_t connections_;
  support::ScriptedOrigin origin_;
  const support::ProxyProcess proxy_{settings()};
  std::vector<std::unique_ptr<Client>> clients_;
};

std::uint64_t read_all(Client& client, const support::ProxyProcess& proxy, std::uint64_t& peak) {
  std::uint64_t total = 0;
  for (;;) {
    const auto piece = client.read_body(kPiece);
    total += piece.size();
    if (total % (64 * kMiB) == 0) peak = std::max(peak, resident_mib(proxy));
    if (piece.size() < kPiece) return total;
  }
}

bool download(Form form, std::uint64_t bytes) {
  const EndlessOrigin origin(form, bytes);
  const support::ProxyProcess proxy(settings());
  support::ScriptedOrigin small;
  small.on("/1k", support::cacheable(std::string(1024, 'x')));
  Client client(proxy.port());
  client.get(small.url("/1k"));
  const auto before = resident_mib(proxy);
  std::uint64_t peak = before;
  client.send(support::request_text("GET", origin.url()));
  const auto head = client.read_head();
  const std::uint64_t got = read_all(client, proxy, peak);
  const bool goes_on = client.get(small.url("/1k")).status == 200;
  fmt::print(
      "{} MiB {} ({}; {} MiB came): {} MiB resident before, {} MiB at most, {} MiB after; "
      "held {} MiB, {} entries\n",
      bytes / kMiB, form == Form::sized ? "sized" : "chunked", head.field("Cache-Status"),
      got / kMiB, before, peak, resident_mib(proxy),
      proxy.metric("hearsay_memory_used_bytes") / static_cast<double>(kMiB),
      proxy.metric("hearsay_cache_entries"));
  return got == bytes && goes_on;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t connections = 10'000;
  std::uint64_t mebibytes = 4096;
  const auto exit_code = bench::parse(
      argc, argv, "The memory of the proxy under idle connections and a large download",
      {
          {"--connections", &connections, "idle"},
          {"--mebibytes", &mebibytes, "of the download"},
      });
  if (exit_code) return *exit_code;
  bench::raise_descriptor_limit();
  try {
    const bool idle = Peak(connections).is_modest();
    const bool sized = download(Form::sized, mebibytes * kMiB);
    const bool chunked = download(Form::chunked, mebibytes * kMiB);
    return idle && sized && chunked ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "memory_check: " << error.what() << '\n';
    return 1;
  }
}

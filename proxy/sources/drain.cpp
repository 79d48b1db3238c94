#include "proxy/sources/drain.hpp"

#include <algorithm>

#include "proxy/sources/source_access.hpp"

namespace proxy {

using std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kDrainWait{20};

}  // namespace

net::Task<void> drain_body(SourceAccess& access, Fetch& fetch) {
  const PooledBuffer scratch(access.upstream.buffers);
  const auto until = steady_clock::now() + kDrainWait;
  while (!fetch.body_finished() && steady_clock::now() < until) {
    const auto read = co_await fetch.body(scratch.all(), kDrainWait);
    if (!read) break;
  }
  fetch.finish();
}

net::Task<Outcome<void>> skip_body(SourceAccess& access, Fetch& fetch, std::uint64_t bytes,
                                   std::chrono::milliseconds idle) {
  const PooledBuffer scratch(access.upstream.buffers);
  while (bytes > 0) {
    const auto size = std::min<std::uint64_t>(bytes, BufferPool::kSize);
    const auto into = net::asio::buffer(scratch.all(), static_cast<std::size_t>(size));
    const auto read = co_await fetch.body(into, idle);
    if (!read) co_return read.error();
    if (*read == 0) co_return Failure{Failure::Where::upstream, Failure::What::cut, {}};
    bytes -= *read;
  }
  co_return boost::system::in_place_value;
}

}  // namespace proxy

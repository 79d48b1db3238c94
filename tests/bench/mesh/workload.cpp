#include "tests/bench/mesh/workload.hpp"

#include <functional>
#include <random>
#include <set>

#include "tests/bench/zipf.hpp"

namespace bench {
namespace {

// What an entry takes besides its body, measured.
constexpr std::uint64_t kEntryBytes = 700;

std::size_t body_size(const std::string& path, std::size_t mean) {
  return mean / 2 + std::hash<std::string>()(path) % (mean + 1);
}

}  // namespace

std::vector<Ask> asks_of(const Workload& workload, std::size_t proxies) {
  std::mt19937_64 generator(workload.seed);
  const Zipf zipf(workload.urls, workload.alpha);
  std::uniform_int_distribution<std::size_t> any_proxy(0, proxies - 1);
  std::vector<Ask> asks(static_cast<std::size_t>(workload.seconds * workload.rate));
  for (Ask& ask : asks) ask = {any_proxy(generator), zipf(generator)};
  return asks;
}

std::string path_of(std::size_t url) {
  return "/" + std::to_string(url);
}

std::string body_of(const std::string& path, std::size_t mean) {
  const std::size_t size = body_size(path, mean);
  std::string body;
  body.reserve(size + path.size());
  while (body.size() < size) body += path;
  body.resize(size);
  return body;
}

std::uint64_t footprint(const std::vector<Ask>& asks, std::size_t mean_body) {
  std::set<std::size_t> urls;
  for (const Ask& ask : asks) urls.insert(ask.url);
  std::uint64_t bytes = 0;
  for (const std::size_t url : urls) bytes += body_size(path_of(url), mean_body) + kEntryBytes;
  return bytes;
}

}  // namespace bench

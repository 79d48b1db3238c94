#include "proxy/command/digest/info.hpp"

#include "proxy/command/digest/fetch.hpp"

namespace proxy::command {
namespace {

Result<Report> describe_any(const InfoOptions& options) {
  if (is_url(options.digest)) {
    const auto fetched = fetch_digest(options.digest, options.limit);
    if (!fetched) return fetched.error();
    return Report().add("url", fetched->url).add(fetched->digest.describe());
  }
  const auto digest = AnyDigest::open(options.digest);
  if (!digest) return digest.error();
  return Report().add("file", options.digest).add(digest->describe());
}

}  // namespace

Result<int> info(const InfoOptions& options, const Streams& streams) {
  const auto report = describe_any(options);
  if (!report) return report.error();
  return print(report->as(options.json), streams);
}

}  // namespace proxy::command

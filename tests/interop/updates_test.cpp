// Updates of Windows through two neighbours, as Delivery Optimization asks for them: the server is
// named in the query, and each MiB is a request of its own.
#include "tests/interop/four_fetches.hpp"

namespace interop {
namespace {

constexpr std::size_t kMiB = 1U << 20;
constexpr std::size_t kPieces = 6;

struct Updates : ::testing::Test {
  Updates() {
    server.otherwise([this](const Request& request) { return give(request); });
  }

  std::string name() const { return "127.0.0.1:" + std::to_string(server.port()); }
  json settings() const {
    const json own{{"name", "own-updates"}, {"like", "windows"}, {"hosts", {name()}}};
    return {{"mirrors", {{"recipes", json::array({"windows", own})}}}};
  }
  Reply give(const Request& request) const {
    if (!contains(request.target, "P4=")) return Reply(403);
    const Fields fields{{"ETag", "\"1\""}, {"Accept-Ranges", "bytes"}};
    const auto range = request.field("Range");
    if (range.empty()) return Reply(200, fields).body(file);
    const auto dash = range.find('-');
    const auto first = std::stoul(range.substr(6, dash - 6));
    const auto last = std::min(std::stoul(range.substr(dash + 1)), file.size() - 1);
    return Reply(206, fields)
        .with("Content-Range", "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/' +
                                   std::to_string(file.size()))
        .body(file.substr(first, last - first + 1));
  }

  const std::string file = noise(kPieces * kMiB, 1);
  ScriptedOrigin server;
};

TEST_F(Updates, AreDownloadedInPiecesAsByDeliveryOptimization) {
  int fetched = 0;
  bool is_away = false;
  server.otherwise(
      [&](const Request& request) { return is_away ? Reply::hang_up() : give(request); });
  FourFetches four(settings(), {&server}, [&] { is_away = true; });
  const auto sent =
      four.run("Delivery Optimization", scenario::sha256_of(file), [&](const Place& place) {
        // Another signature for each client.
        const auto url =
            place.proxy.url() +
            "/filestreamingservice/files/0a1b?P1=1&P2=404&P3=2&P4=" + std::to_string(++fetched) +
            "&cacheHostOrigin=" + name();
        return scenario::sha256_of(curl_in_ranges(url, file.size(), kPieces));
      });
  EXPECT_EQ(sent[0].bytes, file.size());
  for (std::size_t i = 1; i < sent.size(); ++i) EXPECT_EQ(sent[i], Sent());
}

}  // namespace
}  // namespace interop

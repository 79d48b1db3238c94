// Hearsay reads the digest of an unmodified Squid, and sends its misses to Squid.
#include <gtest/gtest.h>

#include "tests/interop/neighbourhood.hpp"
#include "tests/support/temporary_directory.hpp"

namespace interop {
namespace {

// Hearsay's probes for false misses use HEAD.
bool by_504(const LogLine& line) {
  return line.status == 504 && line.method == "GET";
}

bool by_probe(const LogLine& line) {
  return line.status == 504 && line.method == "HEAD";
}

bool always(const LogLine&) {
  return true;
}

struct Neighbours {
  // `more`: further lines of Squid's configuration.
  explicit Neighbours(const std::string& more = {}, std::size_t number = 500)
      : held(origin.urls("held", number)),
        squid(nobody.port(), SquidProcess::Neighbour::sibling, more) {
    get_all(squid.port(), held);
    const bool built = await([&] { return squid_claims_all(); }, std::chrono::seconds(30));
    if (!built) throw std::runtime_error("Squid built no digest: " + squid.cache_log());
    ours = std::make_unique<ProxyProcess>(settings());
    if (!await([&] { return books().at("state") == "usable"; })) {
      throw std::runtime_error("Squid's digest is not used: " + books().dump());
    }
  }

  bool squid_claims_all() const {
    const auto digest = served_digest(squid.port());
    return digest && std::all_of(held.begin(), held.end(),
                                 [&](const std::string& url) { return claims(*digest, url); });
  }
  json books() const { return ours->digest_peer("squid"); }

  // Hearsay probes Squid for every URL that it fetches from the origin.
  json settings() const {
    json all = with_peer("squid", squid.port());
    all["digest"]["false_miss_sample"] = 1;
    return all;
  }

  Origin origin;
  std::vector<std::string> held;
  ReservedPort nobody;  // the neighbour in Squid's settings
  SquidProcess squid;
  std::unique_ptr<ProxyProcess> ours;
};

TEST(WeAskSquid, ForAllThatItClaimsAndLittleElse) {
  const Neighbours neighbours;
  EXPECT_EQ(neighbours.books().at("kind"), "squid");
  EXPECT_GE(neighbours.books().at("entries"), 500);
  const std::size_t before = neighbours.origin.count();
  get_all(neighbours.ours->port(), neighbours.held);
  EXPECT_LE(neighbours.origin.count() - before, 5U);
  EXPECT_GE(neighbours.books().at("true_hits"), 495);
  EXPECT_GT(neighbours.books().at("first_byte_ms"), 0.0);

  const auto others = neighbours.origin.urls("other", 300);
  get_all(neighbours.ours->port(), others);
  const std::size_t refused = logged(neighbours.squid.access_log(), others, by_504);
  EXPECT_EQ(neighbours.books().at("false_hits"), refused);
  EXPECT_EQ(neighbours.books().at("false_hit_causes").at("absent"), refused);
  EXPECT_TRUE(await([&] { return neighbours.books().at("probes") == 300 - refused; }));
  EXPECT_EQ(neighbours.books().at("false_misses"), 0);
  EXPECT_EQ(logged(neighbours.squid.access_log(), others, by_probe), 300 - refused);
  EXPECT_LE(refused, 60U);  // Squid's 5 bits per entry claim one URL in eleven in error
  ASSERT_TRUE(await([&] { return logged(neighbours.ours->access_log(), others, always) == 300; }));
  EXPECT_GE(logged(neighbours.ours->access_log(), neighbours.held, by_digest), 495U);
  EXPECT_EQ(logged(neighbours.ours->access_log(), others, by_digest), 0U);
}

// Without Via, a Squid names itself in X-Cache and X-Cache-Lookup.
TEST(WeAskSquid, AlsoOneThatLeavesOutVia) {
  const Neighbours neighbours("via off\n", 50);
  get_all(neighbours.ours->port(), neighbours.held);
  EXPECT_GE(neighbours.books().at("true_hits"), 45) << neighbours.books().dump(2);
  get_all(neighbours.ours->port(), neighbours.origin.urls("other", 50));
  EXPECT_TRUE(await([&] { return neighbours.books().at("probes") > 0; }));
  EXPECT_TRUE(neighbours.books().at("rests").empty()) << neighbours.books().dump(2);
  EXPECT_TRUE(neighbours.books().at("last_error").is_null());
}

TEST(WeAskSquid, AndSayThatItRefusesUs) {
  const Neighbours neighbours(
      "acl asks req_header Cache-Control only-if-cached\nhttp_access deny asks\n", 5);
  const auto response = Client(neighbours.ours->port()).get(neighbours.held.front());
  EXPECT_EQ(response.body, "page " + path_of(neighbours.held.front()));
  EXPECT_TRUE(contains(response.field("Cache-Status"), "refuses-us/squid"))
      << response.field("Cache-Status");
  EXPECT_EQ(neighbours.books().at("reason"), "refuses-us") << neighbours.books().dump(2);
  EXPECT_TRUE(contains(neighbours.ours->page("/health").body, "refuses us: its http_access"));
}

TEST(WeAskSquid, ForRangesOfWhatItHoldsWhole) {
  std::string body;
  for (int i = 0; body.size() < (3U << 20); ++i) body += std::to_string(i) + ' ';
  Origin origin;
  const auto date = http_date();
  origin.on("/large", cacheable(body, "max-age=86400").with("Date", date).with("ETag", "\"v1\""));
  const std::string url = origin.url("/large");
  const ReservedPort nobody;
  SquidProcess squid{nobody.port()};
  EXPECT_TRUE(Client(squid.port()).get(url).body == body);
  const auto claimed = [&] {
    const auto digest = served_digest(squid.port());
    return digest && claims(*digest, url);
  };
  ASSERT_TRUE(await(claimed, std::chrono::seconds(30))) << squid.cache_log();
  const TemporaryDirectory home;
  const json cache{{"disk", {{"path", (home / "c").string()}, {"size", "256MiB"}}}};
  const ProxyProcess ours(with_peer("squid", squid.port(), json{{"cache", cache}}));
  ASSERT_TRUE(await([&] { return ours.digest_peer("squid").at("state") == "usable"; }));
  Client client(ours.port());
  const std::pair<std::size_t, std::size_t> spans[] = {
      {1'000'000, 1'999'999},  // cold
      {2'000'000, 2'999'999},  // a block of it is missing
      {500, 2'999'999},        // held
  };
  for (const auto& [first, last] : spans) {
    const auto range = "bytes=" + std::to_string(first) + '-' + std::to_string(last);
    const Response part = client.get(url, {{"Range", range}});
    EXPECT_EQ(part.status, 206);
    EXPECT_TRUE(part.body == body.substr(first, last - first + 1)) << range;
  }
  EXPECT_EQ(ours.digest_peer("squid").at("true_hits"), 2) << ours.digest_peer("squid").dump(2);
  EXPECT_EQ(origin.count(), 1U);
}

}  // namespace
}  // namespace interop

// An unmodified Squid reads Hearsay's digest, and sends its misses to Hearsay.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/interop/neighbourhood.hpp"

namespace interop {
namespace {

bool is_good(const std::string& peer_select) {
  return contains(peer_select, "usable: yes") && contains(peer_select, "result: success");
}

std::vector<std::string> every_tenth(const std::vector<std::string>& urls) {
  std::vector<std::string> some;
  for (std::size_t i = 0; i < urls.size(); i += 10) some.push_back(urls[i]);
  return some;
}

// Waits until Hearsay's digest has all of these. Nothing if it never has.
std::optional<digest::SquidDigest> digest_of(std::uint16_t port,
                                             const std::vector<std::string>& held) {
  std::optional<digest::SquidDigest> digest;
  const bool complete = await([&] {
    digest = served_digest(port);
    return digest && digest->count == held.size();
  });
  return complete ? digest : std::nullopt;
}

// Squid fetches a digest when its first miss needs one, and not again for 300 s. Hearsay's must be
// complete before that miss.
TEST(SquidAsksUs, ForAllThatWeClaimAndLittleElse) {
  const Origin origin;
  const ProxyProcess ours(json{{"digest", {{"squid_period", "1s"}}}});
  const auto held = origin.urls("held", 5000);
  get_all(ours.port(), held);
  const auto digest = digest_of(ours.port(), held);
  ASSERT_TRUE(digest);
  const SquidProcess squid(ours.port());
  get_all(squid.port(), origin.urls("first", 1));
  ASSERT_TRUE(await([&] { return is_good(squid.manager_page("peer_select")); }))
      << squid.manager_page("peer_select");

  const auto asked = every_tenth(held);
  const auto others = origin.urls("other", 300);
  get_all(squid.port(), asked);
  get_all(squid.port(), others);

  const auto answered_as_hits = [&] {
    return logged(ours.access_log(), asked, [](const LogLine& line) {
      return line.result == "TCP_MEM_HIT" && line.status == 200;
    });
  };
  // Each URL was logged as a miss when it was fetched, before Squid asked.
  EXPECT_TRUE(await([&] { return answered_as_hits() >= 495; })) << answered_as_hits();
  EXPECT_GE(logged(squid.access_log(), asked, by_digest), 495U);
  const auto strayed = [&] {
    return logged(ours.access_log(), others, [](const LogLine&) { return true; });
  };
  const auto claimed = static_cast<std::size_t>(std::count_if(
      others.begin(), others.end(), [&](const auto& url) { return claims(*digest, url); }));
  EXPECT_LE(claimed, 15U) << "of 300, which a digest of ten bits per entry claims falsely";
  EXPECT_EQ(await_halt(strayed, std::chrono::milliseconds(1500)), claimed);
  for (const LogLine& line : ours.access_log()) {
    const bool is_other = line.url.find("/other/") != std::string::npos;
    EXPECT_TRUE(!is_other || line.result == "UDP_SITE_QUESTION") << line.url << ' ' << line.result;
  }
}

// Squid counts as many bits in the digest it received as Hearsay does.
TEST(SquidAsksUs, WithEveryBitOfOurDigest) {
  const Origin origin;
  const ProxyProcess ours(json{{"digest", {{"squid_period", "1s"}}}});
  const auto held = origin.urls("held", 300);
  get_all(ours.port(), held);
  const auto digest = digest_of(ours.port(), held);
  ASSERT_TRUE(digest);
  const SquidProcess squid(ours.port());
  get_all(squid.port(), origin.urls("first", 1));
  ASSERT_TRUE(await([&] { return is_good(squid.manager_page("peer_select")); }));
  const std::string on = "on: " + std::to_string(digest->filter.bits_set());
  EXPECT_TRUE(contains(squid.manager_page("peer_select"), on)) << on << '\n'
                                                               << squid.manager_page("peer_select");
}

}  // namespace
}  // namespace interop

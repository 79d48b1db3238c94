// A member of the site that fetches for the others is lost.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/scenario/peers/site_scene.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;

// Each member fetches a while, and is then lost: whichever of them owns the key, one other fetches.
TEST(SiteLost, FetchesOnceMoreIfTheFetcherIsKilledOrStops) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    for (std::size_t lost = 0; lost < Site::kMembers; ++lost) {
      Site site(kSparesTheOrigin);
      Gate never;
      std::atomic<int> asked = 0;
      site.origin.on("/a", [&](const Request&) {
        return asked++ == 0 ? Reply(200, kStored).sized(4).wait(never).send("late")
                            : cacheable("again").slow(allowed(300ms), 0);
      });
      const auto get = support::request_text("GET", site.origin.url("/a"));
      std::deque<Client> clients;
      clients.emplace_back(site.members[lost].port()).send(get);
      ASSERT_TRUE(site.origin.await_requests("/a", 1));
      for (std::size_t i = 0; i < Site::kMembers; ++i) {
        if (i != lost) clients.emplace_back(site.members[i].port()).send(get);
      }
      site.members[lost].process().signal(signal);
      clients.pop_front();
      for (auto& client : clients) EXPECT_EQ(client.read().body, "again") << signal << lost;
      EXPECT_EQ(site.origin.count("/a"), 2U) << signal << lost;
      site.members[lost].process().signal(SIGCONT);
    }
  }
}

}  // namespace
}  // namespace scenario

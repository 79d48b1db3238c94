#include "proxy/policy/policy.hpp"

#include <gtest/gtest.h>

#include "proxy/upstream/failure.hpp"
#include "tests/peers/samples.hpp"
#include "tests/proxy/policy/requests.hpp"

namespace proxy::policy {
namespace {

config::Settings mapped_to(const std::string& origin) {
  config::Settings settings;
  settings.gateway.reverse.resize(1);
  settings.gateway.reverse[0].host = "*";
  settings.gateway.reverse[0].to = {{false, origin, 80}};
  settings.peers = {peers::samples::peer("b")};
  return settings;
}

const upstream::Origins* origins_of(const Policy& policy) {
  return policy.gateway.find("a.test", 80)->origins.get();
}

TEST(Policy, KeepsTheLiveStateOfOriginsAndNeighboursThatStay) {
  const Policy before(mapped_to("origin.test"), {});
  auto settings = mapped_to("origin.test");
  settings.gateway.reverse[0].share = true;
  const Policy after(settings, {}, &before);
  EXPECT_TRUE(after.gateway.find("a.test", 80)->share);
  EXPECT_EQ(origins_of(after), origins_of(before));
  EXPECT_EQ(after.directory, before.directory);
}

TEST(Policy, KnowsNothingYetOfOtherOriginsAndNeighbours) {
  const Policy before(mapped_to("origin.test"), {});
  auto settings = mapped_to("another.test");
  settings.peers.clear();
  const Policy after(settings, {}, &before);
  EXPECT_NE(origins_of(after), origins_of(before));
  EXPECT_TRUE(after.directory->peers().empty());
}

TEST(Policy, AStaleResponseMayAnswerForAnOriginOutOfReachAlone) {
  config::Settings settings;
  settings.cache.stale_if_error = std::chrono::milliseconds(90'500);
  const Policy policy(settings, {});
  const upstream::Failure unreachable{
      upstream::Failure::Where::upstream, upstream::Failure::What::unreachable, {}};
  const upstream::Failure abandoned{
      upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}};
  EXPECT_EQ(policy.leave_after(unreachable), std::chrono::seconds(90));
  EXPECT_EQ(policy.leave_after(abandoned), std::chrono::seconds(0));
}

TEST(Policy, AStaleResponseMayAnswerForAnErrorOfAMirroredHostAlone) {
  config::Settings settings;
  settings.cache.stale_if_error = std::chrono::milliseconds(90'500);
  settings.gateway.mirrors.hosts = {{"mirrored.test", {}}};
  const Policy policy(settings, {});
  const auto leave_of = [&](const char* url) {
    return policy.leave_after_error_of(*http::parse_target("GET", url));
  };
  EXPECT_EQ(leave_of("https://mirrored.test/a"), std::chrono::seconds(90));
  EXPECT_EQ(leave_of("https://other.test/a"), std::chrono::seconds(0));
}

TEST(Policy, IsKeptByTheRequestThatPinsItAndByWhatIsFetchedForIt) {
  auto policy = std::make_shared<const Policy>(mapped_to("origin.test"), lists::AccessLists{});
  const std::weak_ptr<const Policy> seen = policy;
  auto request = std::make_unique<TextRequest>("");
  request->parsed->pin(std::exchange(policy, nullptr));
  auto owned = std::make_unique<OwnedRequest>(**request);
  request.reset();
  ASSERT_FALSE(seen.expired());
  EXPECT_EQ(owned->get().policy().settings.gateway.reverse[0].to[0].host, "origin.test");
  owned.reset();
  EXPECT_TRUE(seen.expired());
}

}  // namespace
}  // namespace proxy::policy

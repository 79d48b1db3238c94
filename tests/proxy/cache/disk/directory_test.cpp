// What others do to the directory.
#include "proxy/cache/disk/directory.hpp"

#include <filesystem>

#include "scene.hpp"
#include "tests/support/await.hpp"

namespace proxy::cache::disk {
namespace {

using support::await;
using support::TemporaryDirectory;

struct Taken {
  const char* name;
  std::vector<std::string> files;
};
class TakenFromDirectory : public testing::TestWithParam<Taken> {};
INSTANTIATE_TEST_SUITE_P(Is, TakenFromDirectory,
                         testing::Values(Taken{"All", {"lock", "00000001.segment"}},
                                         Taken{"TheLock", {"lock"}},
                                         Taken{"TheSegment", {"00000001.segment"}}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(TakenFromDirectory, IsNoticedAndWhatIsStoredThenLastsAndIsKeptFromOthers) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  ASSERT_TRUE(scene.append(response(url_number(1), "one")));
  for (const auto& file : GetParam().files) std::filesystem::remove(directory / file);
  ASSERT_TRUE(await([&] {
    return std::filesystem::exists(directory / "lock") &&
           (std::filesystem::exists(directory / "00000001.segment") ||
            std::filesystem::exists(directory / "00000002.segment"));
  }));
  ASSERT_TRUE(await([&] { return scene->state().working; }));
  EXPECT_EQ(Directory::open(directory.path()).error(), Error::in_use);
  const bool lost = GetParam().files.back() != "lock";
  EXPECT_EQ(scene.body(url_number(1)).has_value(), !lost);
  const auto at = scene.append(response(url_number(2), "two"));
  ASSERT_TRUE(at);
  EXPECT_EQ(at->segment, lost ? 2U : 1U) << "a number is not used again while we run";
  scene.stop();
  Scene again(directory.path());
  EXPECT_EQ(*again.body(url_number(2)), "two");
  EXPECT_EQ(again.body(url_number(1)).has_value(), !lost);
}

TEST(Directory, IsNotThereWithoutTheLockThatIsHeld) {
  const TemporaryDirectory directory;
  const auto held = Directory::open(directory.path());
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->still_there());
  std::filesystem::remove(directory / "lock");
  EXPECT_FALSE(held->still_there());
  const auto other = Directory::open(directory.path());
  EXPECT_TRUE(other->still_there());
  EXPECT_FALSE(held->still_there()) << "another has it";
}

}  // namespace
}  // namespace proxy::cache::disk

// Large objects of which some blocks are missing: when they are claimed in part.
#include "object_scene.hpp"

namespace proxy::cache::disk {
namespace {

TEST_F(Objects, AreClaimedInPartWhileSomeBlocksAreThere) {
  ASSERT_TRUE(scene().append(object(url_, 7)));
  disk().queue().doubt(key_for(url_), 7);
  settle();
  EXPECT_FALSE(claimed_in_part(index(), url_)) << "without any";
  ASSERT_TRUE(scene().append(block(url_, 7, 2)));
  disk().queue().doubt(key_for(url_), 7);
  settle();
  EXPECT_TRUE(claimed_in_part(index(), url_));
  restart();
  EXPECT_TRUE(claimed_in_part(index(), url_));
  ASSERT_TRUE(scene().append(object(url_, 7)));
  EXPECT_TRUE(claimed_in_part(index(), url_)) << "with a newer head";
  put_blocks(url_, 7);
  disk().queue().doubt(key_for(url_), 7);
  settle();
  EXPECT_TRUE(claimed(index(), url_));
  EXPECT_FALSE(claimed_in_part(index(), url_));
  disk().purge(key_of_block(url_, 7, 0), {});
  disk().lose_block(key_for(url_), 7);
  settle();
  EXPECT_TRUE(claimed_in_part(index(), url_)) << "the others are there";
}

TEST_F(Objects, AreNotClaimedInPartOnceTheirLastBlockIsLost) {
  ASSERT_TRUE(scene().append(object(url_, 7)));
  ASSERT_TRUE(scene().append(block(url_, 7, 3)));
  disk().queue().doubt(key_for(url_), 7);
  settle();
  ASSERT_TRUE(claimed_in_part(index(), url_));
  disk().purge(key_of_block(url_, 7, 3), {});
  disk().lose_block(key_for(url_), 7);
  settle();
  EXPECT_FALSE(claimed_in_part(index(), url_));
  restart();
  EXPECT_FALSE(claimed_in_part(index(), url_));
}

// Only neighbours with the rule may use it, and they do not look up parts under it.
TEST_F(Objects, ByARuleAreClaimedAsAWholeAlone) {
  auto by_rule = object(url_, 7);
  by_rule.header.rule = 9;
  ASSERT_TRUE(scene().append(by_rule));
  put_blocks(url_, 7, 1);
  disk().queue().doubt(key_for(url_), 7);
  settle();
  EXPECT_FALSE(claimed(index(), url_) || claimed_in_part(index(), url_));
  put_blocks(url_, 7);
  disk().queue().doubt(key_for(url_), 7);
  settle();
  EXPECT_TRUE(claimed(index(), url_));
  EXPECT_EQ(index().find(key_for(url_))->rule, 9);
}

}  // namespace
}  // namespace proxy::cache::disk

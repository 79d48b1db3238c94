#include "proxy/succession/channel.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proxy/succession/successor.hpp"

namespace proxy::succession {
namespace {

TEST(Channel, KeepsMessagesWholeAndInOrder) {
  const auto [ours, theirs] = make_channel();
  const std::string prefix(32 * 1024, 'x');
  ASSERT_TRUE(send(ours.number(), Kind::forget_many, prefix));
  ASSERT_TRUE(send(ours.number(), Kind::serving));
  const auto first = receive(theirs.number(), Wait::no);
  ASSERT_TRUE(first.message.has_value());
  EXPECT_EQ(first.message->kind, Kind::forget_many);
  EXPECT_EQ(first.message->text, prefix);
  const auto second = receive(theirs.number(), Wait::no);
  ASSERT_TRUE(second.message.has_value());
  EXPECT_EQ(second.message->kind, Kind::serving);
  EXPECT_EQ(second.message->text, "");
}

TEST(Channel, TellsNothingYetFromNothingEver) {
  auto [ours, theirs] = make_channel();
  const auto yet = receive(ours.number(), Wait::no);
  EXPECT_FALSE(yet.message || yet.closed);
  theirs = Descriptor();
  const auto ever = receive(ours.number(), Wait::no);
  EXPECT_TRUE(!ever.message && ever.closed);
  EXPECT_FALSE(send(ours.number(), Kind::serving));
}

TEST(Channel, CarriesADescriptor) {
  const auto [ours, theirs] = make_channel();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor reads(ends[0]);
  const Descriptor writes(ends[1]);
  ASSERT_TRUE(send(ours.number(), Kind::socket, "name", reads.number()));
  const auto received = receive(theirs.number(), Wait::yes);
  ASSERT_TRUE(received.message && received.message->carried);
  EXPECT_EQ(received.message->text, "name");
  ASSERT_EQ(::write(writes.number(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(received.message->carried.number(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST(Successor, HasForgottenAllOnceEachOrderIsAnswered) {
  const auto [ours, theirs] = make_channel();
  Successor successor;
  EXPECT_FALSE(successor.exists());
  successor.adopt(ours.number());
  ASSERT_TRUE(successor.tell(Kind::forget_url, "http://a.test/"));
  ASSERT_TRUE(successor.tell(Kind::forget_url, "http://b.test/"));
  successor.note_forgotten();
  EXPECT_FALSE(successor.has_forgotten_all());
  successor.note_forgotten();
  EXPECT_TRUE(successor.has_forgotten_all());
}

TEST(Successor, OwesNothingThatItWasNotTold) {
  auto [ours, theirs] = make_channel();
  Successor successor;
  successor.adopt(ours.number());
  theirs = Descriptor();
  EXPECT_FALSE(successor.tell(Kind::forget_url, "http://a.test/"));
  EXPECT_TRUE(successor.has_forgotten_all());
}

}  // namespace
}  // namespace proxy::succession

#include "proxy/machine/channel.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <thread>

#include "proxy/machine/launcher.hpp"

namespace proxy::machine::succession {
namespace {

TEST(Channel, KeepsMessagesWholeAndInOrder) {
  const auto [ours, theirs] = make_channel();
  const std::string prefix(32 * 1024, 'x');
  ASSERT_TRUE(send(ours.number(), MessageKind::forget_many, prefix));
  ASSERT_TRUE(send(ours.number(), MessageKind::serving));
  const auto first = receive(theirs.number(), Wait::no);
  ASSERT_TRUE(first.message.has_value());
  EXPECT_EQ(first.message->kind, MessageKind::forget_many);
  EXPECT_EQ(first.message->text, prefix);
  const auto second = receive(theirs.number(), Wait::no);
  ASSERT_TRUE(second.message.has_value());
  EXPECT_EQ(second.message->kind, MessageKind::serving);
  EXPECT_EQ(second.message->text, "");
}

TEST(Channel, TellsNothingYetFromNothingEver) {
  auto [ours, theirs] = make_channel();
  const auto yet = receive(ours.number(), Wait::no);
  EXPECT_FALSE(yet.message || yet.closed);
  theirs = Descriptor();
  const auto ever = receive(ours.number(), Wait::no);
  EXPECT_TRUE(!ever.message && ever.closed);
  EXPECT_FALSE(send(ours.number(), MessageKind::serving));
}

TEST(Channel, CarriesADescriptor) {
  const auto [ours, theirs] = make_channel();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor reads(ends[0]);
  const Descriptor writes(ends[1]);
  ASSERT_TRUE(send(ours.number(), MessageKind::socket, "name", reads.number()));
  const auto received = receive(theirs.number(), Wait::yes);
  ASSERT_TRUE(received.message && received.message->carried);
  EXPECT_EQ(received.message->text, "name");
  ASSERT_EQ(::write(writes.number(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(received.message->carried.number(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

// Orders to a successor, and their answers.
struct Orders : testing::Test {
  Orders() { successor.adopt(channel.ours.number()); }

  bool tell(const std::string& url) {
    return successor.tell(MessageKind::forget_url, url,
                          [this, url](bool forgotten) { answers[url] = forgotten; });
  }
  // The number of the next order that the successor reads.
  std::string number_of_next() const {
    const auto received = receive(channel.theirs.number(), Wait::no);
    const auto order = received.message ? order_of(received.message->text) : std::nullopt;
    return order ? std::to_string(order->number) : "none";
  }

  Channel channel = make_channel();
  Successor successor;
  std::map<std::string, bool> answers;
};

TEST_F(Orders, AreAnsweredEachForItself) {
  ASSERT_TRUE(tell("http://a.test/"));
  ASSERT_TRUE(tell("http://b.test/"));
  const auto first = number_of_next();
  const auto second = number_of_next();
  successor.record_forgotten(second);
  EXPECT_EQ(answers, (std::map<std::string, bool>{{"http://b.test/", true}}));
  successor.record_forgotten(first);
  EXPECT_EQ(answers.count("http://a.test/"), 1U);
  successor.record_forgotten(first);
  successor.record_forgotten("x");
}

TEST_F(Orders, HaveNoAnswerIfTheyCouldNotBeSent) {
  channel.theirs = Descriptor();
  EXPECT_FALSE(tell("http://a.test/"));
  successor.disown();
  EXPECT_TRUE(answers.empty());
}

// The next successor answers its own orders alone.
TEST_F(Orders, AreNotForgottenByASuccessorThatFails) {
  ASSERT_TRUE(tell("http://a.test/"));
  const auto stale = number_of_next();
  successor.disown();
  EXPECT_FALSE(successor.exists());
  EXPECT_EQ(answers, (std::map<std::string, bool>{{"http://a.test/", false}}));
  answers.clear();
  successor.adopt(channel.ours.number());
  ASSERT_TRUE(tell("http://b.test/"));
  successor.record_forgotten(stale);
  EXPECT_TRUE(answers.empty());
  successor.record_forgotten(number_of_next());
  EXPECT_EQ(answers, (std::map<std::string, bool>{{"http://b.test/", true}}));
}

TEST(Order, IsReadBackAndNothingElseIs) {
  const auto text = text_of({17, "http://a.test/ b"});
  const auto order = order_of(text);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->number, 17U);
  EXPECT_EQ(order->what, "http://a.test/ b");
  for (const auto* const other : {"", "17", "x http://a.test/", " http://a.test/"}) {
    EXPECT_FALSE(order_of(other)) << other;
  }
}

// A channel that a predecessor has shut for its successor is like one that has ended, but for this.
TEST(Predecessor, LetsUsServeUnlessItHasGivenUsUp) {
  for (const bool given_up : {false, true}) {
    auto [ours, theirs] = make_channel();
    ASSERT_EQ(::setenv(kChannelVariable, std::to_string(theirs.release()).c_str(), 1), 0);
    auto predecessor = Predecessor::of_environment();
    if (given_up) send(ours.number(), MessageKind::too_late);
    ours = Descriptor();
    EXPECT_EQ(predecessor.say_serving(), !given_up);
  }
}

// An order fails midway here, since a descriptor of it is closed.
TEST(Launcher, StartsNothingWithTheSocketsOfAnOrderThatFailed) {
  std::string shell = "/bin/sh";
  std::string option = "-c";
  // The channel is the descriptor after the sockets.
  std::string script = R"(eval "printf 'f%s' $LISTEN_FDS >&$HEARSAY_PREDECESSOR")";
  char* const arguments[] = {shell.data(), option.data(), script.data(), nullptr};
  const Launcher launcher(arguments);
  const auto [ours, theirs] = make_channel();
  constexpr int kClosed = 1000;
  const Launcher::Socket bad[] = {{ours.number(), "name"}, {kClosed, "name"}};
  EXPECT_FALSE(launcher.launch(bad));
  const Launcher::Socket good[] = {{ours.number(), "name"}};
  const auto channel = launcher.launch(good);
  ASSERT_TRUE(channel);
  const auto received = receive(channel.number(), Wait::yes);
  ASSERT_TRUE(received.message);
  EXPECT_EQ(received.message->text, "1");
}

TEST(Predecessor, KeepsOrdersThatArriveBeforeTheDiskIsReleased) {
  auto [ours, theirs] = make_channel();
  ASSERT_EQ(::setenv(kChannelVariable, std::to_string(theirs.release()).c_str(), 1), 0);
  auto predecessor = Predecessor::of_environment();
  ASSERT_TRUE(send(ours.number(), MessageKind::forget_url, "http://a.test/"));
  ASSERT_TRUE(send(ours.number(), MessageKind::forget_many, "http://b.test/"));
  ASSERT_TRUE(send(ours.number(), MessageKind::disk_released));
  ASSERT_TRUE(send(ours.number(), MessageKind::forget_url, "http://c.test/"));
  predecessor.take_disk();
  for (const auto* const url : {"http://a.test/", "http://b.test/", "http://c.test/"}) {
    const auto received = predecessor.next();
    ASSERT_TRUE(received.message) << url;
    EXPECT_EQ(received.message->text, url);
  }
  EXPECT_FALSE(predecessor.next().message);
}

TEST(Predecessor, DoesNotWaitForTheDiskOfOneThatHasEnded) {
  auto [ours, theirs] = make_channel();
  ASSERT_EQ(::setenv(kChannelVariable, std::to_string(theirs.release()).c_str(), 1), 0);
  auto predecessor = Predecessor::of_environment();
  std::thread ends([channel = std::move(ours)] { (void)receive(channel.number(), Wait::yes); });
  predecessor.take_disk();
  ends.join();
  EXPECT_TRUE(predecessor.next().closed);
}

}  // namespace
}  // namespace proxy::machine::succession

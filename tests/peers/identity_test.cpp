#include "peers/site.hpp"

#include <gtest/gtest.h>

namespace peers {
namespace {

constexpr const char* kE1 = "00000000000000e1";
constexpr const char* kE2 = "00000000000000e2";
constexpr const char* kBoth = "00000000000000e2, 00000000000000e1";

SelfNaming epoch(std::string_view epochs, std::string_view via = "1.1 b") {
  return {.epochs = epochs, .via = via};
}

TEST(Identity, OfAHearsayIsTheEpochThatItsPollsName) {
  const Identity b(epoch(kE1));
  EXPECT_EQ(b.proof_in(epoch(kE1, "1.1 renamed")), Proof::given);
  EXPECT_EQ(b.proof_in(epoch(kBoth)), Proof::given) << "its digest was rebuilt since";
  EXPECT_EQ(b.proof_in(epoch(kE2)), Proof::awaited) << "it may have begun anew";
  EXPECT_EQ(b.proof_in(epoch("")), Proof::awaited) << "it may not know us yet";
  EXPECT_EQ(b.proof_in(epoch("", "1.1 c")), Proof::none);
  EXPECT_EQ(b.proof_in({}), Proof::none);
  EXPECT_EQ(b.proof_in(epoch("e1", "")), Proof::none) << "not an epoch";
  EXPECT_EQ(b.proof_in(epoch("00000000000000e3, 00000000000000e4, 00000000000000e1")),
            Proof::awaited)
      << "only two are read";
}

TEST(Identity, TakesAnAnswerThatIsOlderThanTheLastPoll) {
  const auto b = Identity(epoch(kE2)).after(Identity(epoch(kE1)));
  EXPECT_EQ(b.proof_in(epoch(kE1)), Proof::given);
  EXPECT_EQ(b.proof_in(epoch(kE2)), Proof::given);
  EXPECT_EQ(Identity(epoch(kE2)).after(b), b) << "a poll that finds nothing new changes nothing";
}

TEST(Identity, OfAHearsayWithoutTheFieldIsItsNameOrItsDigestsEpoch) {
  Identity old(epoch(""));
  EXPECT_EQ(old.proof_in(epoch("")), Proof::given);
  EXPECT_EQ(old.proof_in(epoch("", "1.1 c")), Proof::none);
  EXPECT_EQ(old.proof_in(epoch(kE1, "")), Proof::none) << "anybody can name an epoch";
  old.learn_epoch_of_digest(0xe1);
  EXPECT_EQ(old.proof_in(epoch(kE1, "")), Proof::given);
  EXPECT_EQ(old.proof_in(epoch("")), Proof::given);
  const auto unchanged = Identity(epoch("")).after(old);  // after a 304
  EXPECT_EQ(unchanged.proof_in(epoch(kE1, "")), Proof::given);
}

struct Said {
  SelfNaming poll;
  SelfNaming answer;
  Proof proof;
};

TEST(Identity, OfASquidIsAnyOfItsNames) {
  const SelfNaming whole{.via = "1.1 unique.test (squid/5.7)",
                         .x_cache = "HIT from visible.test",
                         .x_cache_lookup = "HIT from visible.test:3128"};
  const SelfNaming without_via{.x_cache = "MISS from visible.test",
                               .x_cache_lookup = "NONE from visible.test:3128"};
  for (const Said& said : {
           Said{whole, whole, Proof::given},
           Said{whole, without_via, Proof::given},  // `via off` since the last poll
           Said{without_via, whole, Proof::given},
           Said{without_via, without_via, Proof::given},
           Said{without_via, {.x_cache_lookup = "MISS from visible.test:3128"}, Proof::given},
           Said{without_via, {.x_cache = "HIT from cdn.test"}, Proof::none},
           Said{without_via, {.x_cache = "HIT"}, Proof::none},
           Said{without_via, {}, Proof::none},
           Said{{}, {}, Proof::none},
           Said{{}, {.via = ", "}, Proof::none},
           Said{whole, {.via = "1.1 squid-a.test"}, Proof::none},
           // The nearest one counts.
           Said{whole, {.via = "1.1 o.test (a, b), 1.1\tunique.test (squid/5.7)"}, Proof::given},
           Said{whole, {.via = "1.1 unique.test (squid/5.7), 1.1 o.test"}, Proof::none},
           Said{whole, {.via = "1.1 o.test (\\), 1.1 unique.test"}, Proof::none},
           // Squid 6 and later
           Said{{.cache_status = "squid-a.test;hit"},
                {.cache_status = "o;fwd=miss;detail=\"a, b\", squid-a.test;fwd=stale"},
                Proof::given},
           Said{{.cache_status = "squid-a.test;hit"},
                {.cache_status = "\"squid-a.test\"; hit"},
                Proof::given},
           Said{{.cache_status = "squid-a.test;hit"}, {.cache_status = "o;hit"}, Proof::none},
       }) {
    EXPECT_EQ(Identity(said.poll).proof_in(said.answer), said.proof)
        << said.answer.via << said.answer.cache_status << said.answer.x_cache;
  }
}

TEST(Identity, OfNobodyIsKnown) {
  const auto too_long = "1.1 " + std::string(300, 'a');
  EXPECT_TRUE(Identity().is_nobody());
  EXPECT_TRUE(Identity({.via = "1.1"}).is_nobody());
  EXPECT_TRUE(Identity({.via = too_long}).is_nobody()) << "bounded";
  EXPECT_FALSE(Identity(epoch(kE1, "")).is_nobody());
}

TEST(EpochsText, NamesTheEpochBeforeIfThereWasOne) {
  EXPECT_EQ(epochs_text(0xe2, 0), kE2);
  EXPECT_EQ(epochs_text(0xe2, 0xe2), kE2);
  EXPECT_EQ(epochs_text(0xe2, 0xe1), kBoth);
}

}  // namespace
}  // namespace peers

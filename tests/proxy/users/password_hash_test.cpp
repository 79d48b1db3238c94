#include "proxy/users/password_file.hpp"

#include <gtest/gtest.h>

namespace proxy::users {
namespace {

const std::string kBcrypt = "$04$PeTXBQHKfskS4CFDHkB0k.GMZRYOxsvloI2xatMlh2arEGGNEfUPa";  // secret
const std::string kSha512 =
    "$6$rounds=1000$saltsalt$LAV5VE5Y7w1d73x1mFNspYWUpazfmwv2SoepNXNKJ/otop/"
    "Zok96Hr8Q13LEv0DRY/x8v0/crpIjl8NJSAqXV/";
const std::string kLatin = "$2y$04$abcdefghijklmnopqrstuuF7KK/SfP9IRGj0pPJMr8GdtCS8xpmpC";

TEST(PasswordHash, IsThatOfOnePassword) {
  for (const auto& hash : {"$2y" + kBcrypt, "$2b" + kBcrypt, "$2a" + kBcrypt, kSha512}) {
    EXPECT_FALSE(why_not_accepted(hash)) << hash;
    EXPECT_TRUE(has_hash("secret", hash)) << hash;
    for (const char* other : {"", "secre", "secret ", "Secret"}) {
      EXPECT_FALSE(has_hash(other, hash)) << hash << other;
    }
  }
  EXPECT_TRUE(has_hash("p\xc3\xa4ss", kLatin));
  EXPECT_FALSE(has_hash("p\xe4ss", kLatin));
}

struct Refused {
  std::string hash, words;
};

TEST(PasswordHash, IsRefusedIfItIsWeakOrTooCostlyAndTheReasonDoesNotShowIt) {
  const std::string salt_and_hash = kBcrypt.substr(3);
  for (const Refused& c : {
           Refused{"secret", "plain"},
           Refused{"", "plain"},
           Refused{"rqXexS6ZhobKA", "DES"},
           Refused{"$apr1$lZL6V/ci$eIMz/iKDkbtys/uU7LEK00", "MD5"},
           Refused{"$1$abc$eIMz/iKDkbtys/uU7LEK00", "MD5"},
           Refused{"{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE=", "SHA-1"},
           Refused{"$5$abc$def", "another kind"},
           Refused{"$2x" + kBcrypt, "another kind"},
           Refused{"$2y$16" + salt_and_hash, "too long"},
           Refused{"$2y$03" + salt_and_hash, "no whole bcrypt"},
           Refused{"$2y$04", "no whole bcrypt"},
           Refused{"$2y$", "no whole bcrypt"},
           Refused{"$2y" + kBcrypt + "x", "no whole bcrypt"},
           Refused{"$2y" + kBcrypt.substr(0, 56) + "!", "no whole bcrypt"},
           Refused{"$6$", "no whole SHA-512"},
           Refused{"$6$rounds=$salt$x", "no whole SHA-512"},
           Refused{kSha512.substr(0, kSha512.size() - 1), "no whole SHA-512"},
           Refused{"$6$rounds=1000001" + kSha512.substr(14), "too many rounds"},
       }) {
    const auto why = why_not_accepted(c.hash);
    ASSERT_TRUE(why) << c.hash;
    EXPECT_NE(why->find(c.words), std::string::npos) << *why;
    if (c.hash.size() < 8) continue;
    EXPECT_EQ(why->find(c.hash.substr(4)), std::string::npos) << *why;
  }
}

TEST(PasswordHash, CostsWhatItsKindAndRoundsSay) {
  EXPECT_EQ(cost_of("$2a$10$Hq5//ShBMqx84N1XsGe./e"), cost_of("$2b$10$PeTXBQHKfskS4CFDHkB0k."));
  EXPECT_NE(cost_of("$2b$04$PeTXBQHKfskS4CFDHkB0k."), cost_of("$2b$10$PeTXBQHKfskS4CFDHkB0k."));
  EXPECT_EQ(cost_of("$6$salt$x"), cost_of("$6$rounds=5000$salt$x"));
  EXPECT_NE(cost_of("$6$rounds=6000$salt$x"), cost_of("$6$rounds=5000$salt$x"));
}

}  // namespace
}  // namespace proxy::users

#include "digest/panel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "instructions.hpp"
#include "keys.hpp"

namespace digest {
namespace {

class Random {
 public:
  std::uint64_t below(std::uint64_t end) { return engine_() % end; }

  Shape shape() {
    Shape shape{.bits = 1 + below(below(2) == 0 ? 40 : 6000),
                .hashes = static_cast<std::uint32_t>(1 + below(kMaxHashes)),
                .derivation = Derivation(below(3))};
    if (shape.derivation == Derivation::squid_words) {
      shape.hashes = 4;
    } else if (below(2) == 0) {
      shape.layout = Layout::partitioned;
      shape.bits = (shape.bits + shape.hashes - 1) / shape.hashes * shape.hashes;
    }
    if (shape.derivation == Derivation::salted) shape.salt = quick_key(engine_()).bytes;
    return shape;
  }

  // Holds some of the keys 0 to 499, few or many.
  BloomFilter filter() {
    auto filter = *BloomFilter::create(shape());
    const std::uint64_t share = 1 + below(50);
    for (std::uint64_t i = below(share); i < 500; i += share) filter.insert(quick_key(i));
    return filter;
  }

 private:
  std::mt19937_64 engine_{1};
};

struct Filters {
  std::vector<std::optional<BloomFilter>> all;
  std::vector<const BloomFilter*> pointers;

  explicit Filters(std::size_t count) : all(count), pointers(count, nullptr) {}

  void put(std::size_t place, BloomFilter filter) {
    all[place] = std::move(filter);
    pointers[place] = &*all[place];
  }

  std::vector<std::size_t> asked_one_by_one(const Key& key) const {
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < all.size(); ++place) {
      if (all[place] && all[place]->contains(key)) places.push_back(place);
    }
    return places;
  }
};

std::vector<std::size_t> asked(const Panel& panel, const Key& key, Instructions instructions) {
  std::vector<std::size_t> places;
  panel.ask(
      key, [&](std::size_t place) { places.push_back(place); }, instructions);
  std::sort(places.begin(), places.end());
  return places;
}

TEST(Panel, SaysWhatTheFiltersSayOneByOne) {
  Random random;
  std::size_t claims = 0;
  for (const std::size_t count : {0U, 1U, 2U, 9U, 64U, 65U, 200U, 300U}) {
    Filters filters(count);
    for (std::size_t place = 0; place < count; ++place) {
      if (random.below(5) != 0) filters.put(place, random.filter());
    }
    const Panel panel(filters.pointers);
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const auto expected = filters.asked_one_by_one(quick_key(i));
      claims += expected.size();
      for (const Instructions instructions : instructions_here()) {
        ASSERT_EQ(asked(panel, quick_key(i), instructions), expected)
            << count << " filters, instructions " << int(instructions);
      }
    }
  }
  EXPECT_GT(claims, 20'000U);
}

TEST(Panel, KnowsEveryKeyOfEveryNeighbour) {
  Filters filters(64);
  for (std::size_t place = 0; place < 64; ++place) {
    auto filter = *BloomFilter::create({.bits = 2400,
                                        .hashes = 8,
                                        .derivation = Derivation::salted,
                                        .layout = Layout::plain,
                                        .salt = quick_key(~std::uint64_t{place}).bytes});
    for (std::uint64_t i = 0; i < 100; ++i) filter.insert(quick_key(100 * place + i));
    filters.put(place, std::move(filter));
  }
  const Panel panel(filters.pointers);
  for (std::uint64_t i = 0; i < 6400; ++i) {
    bool found = false;
    panel.ask(quick_key(i), [&](std::size_t place) { found = found || place == i / 100; });
    ASSERT_TRUE(found) << i;
  }
}

TEST(Panel, OfNoFiltersClaimsNothing) {
  Panel().ask(quick_key(1), [](std::size_t) { FAIL(); });
  const std::vector<const BloomFilter*> nobody(3, nullptr);
  Panel(nobody).ask(quick_key(1), [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace digest

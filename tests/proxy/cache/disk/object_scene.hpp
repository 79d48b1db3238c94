// Large objects on a disk of small segments. Blocks are small here.
#pragma once

#include <filesystem>
#include <set>

#include "scene.hpp"

namespace proxy::cache::disk {

inline constexpr std::uint32_t kBlocks = 4;
inline const std::uint32_t kUntil =
    static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count()) +
    10'000;

inline NewRecord object(const std::string& url, std::uint64_t version,
                        std::uint32_t blocks = kBlocks) {
  return {.header = {.kind = RecordKind::object,
                     .claimable_until = kUntil,
                     .key = key_for(url),
                     .version = version,
                     .block = blocks},
          .url = url,
          .head = "200 OK"};
}

// The selector of the URL's variants, which has the claim of one of them.
inline NewRecord selector(const std::string& url, std::uint64_t version,
                          std::uint32_t blocks = kBlocks) {
  NewRecord record = object(url, version, blocks);
  record.header.kind = RecordKind::selector;
  record.head = "cookie";
  return record;
}

inline NewRecord block(const std::string& url, std::uint64_t version, std::uint32_t number,
                       std::size_t bytes = 2000) {
  return {.header = {.kind = RecordKind::block,
                     .key = key_for(url),
                     .version = version,
                     .block = number},
          .url = url,
          .head = {},
          .body = body_of(body_text(url, bytes))};
}

inline Key key_of_block(const std::string& url, std::uint64_t version, std::uint32_t number) {
  return block_key(key_for(url), version, number);
}

inline bool claimed(const Index& index, const std::string& url) {
  const auto place = index.find(key_for(url));
  return place && place->claimable_until != 0 && place->rule != digest::kOfPart;
}

inline bool claimed_in_part(const Index& index, const std::string& url) {
  const auto place = index.find(key_for(url));
  return place && place->claimable_until != 0 && place->rule == digest::kOfPart;
}

inline bool holds(const Index& index, const std::string& url, std::uint64_t version,
                  std::uint32_t number) {
  return index.find(key_of_block(url, version, number)).has_value();
}

class Objects : public ::testing::Test {
 protected:
  Objects() : options_(small_options(directory_.path())) {
    options_.log.keep = [this](const Key& key, const Location& place) {
      return place.used || kept_.contains(key);
    };
    scene_.emplace(options_);
  }

  Scene& scene() { return *scene_; }
  Disk& disk() { return **scene_; }
  const Index& index() { return disk().catalog().index; }

  void restart() {
    scene_.reset();
    scene_.emplace(options_);
  }
  void settle() { ASSERT_TRUE(disk().queue().settle(kPatience)); }
  void damage_the_segment_of(const Key& key) {
    const auto segment = index().find(key)->at.segment;
    scene_.reset();
    for (const auto& file : std::filesystem::directory_iterator(directory_.path())) {
      if (file.path().extension() != ".segment") continue;
      if (std::stoul(file.path().stem().string(), nullptr, 16) != segment) continue;
      std::filesystem::resize_file(file.path(), 40);
    }
    scene_.emplace(options_);
    EXPECT_EQ(scene().loaded.damaged, 1U);
    settle();
  }
  void begin_a_segment() {
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(scene().append(response(url_number(1), body_text(url_number(1), 4000))));
    }
  }
  void put_blocks(const std::string& url, std::uint64_t version, std::uint32_t from = 0) {
    for (std::uint32_t number = from; number < kBlocks; ++number) {
      ASSERT_TRUE(scene().append(block(url, version, number)));
    }
  }
  // Appends until one more segment is reclaimed.
  void reclaim_one() {
    const std::uint64_t before = disk().catalog().counters.reclaimed;
    while (disk().catalog().counters.reclaimed == before) {
      const auto url = url_number(++others_);
      ASSERT_TRUE(scene().append(response(url, body_text(url, 4000))));
    }
    settle();
  }
  void reclaim_all_there_is() {
    for (int i = 0; i < 20; ++i) reclaim_one();
  }

  const support::TemporaryDirectory directory_;
  Options options_;
  std::set<Key> kept_;  // set while nothing is reclaimed
  std::optional<Scene> scene_;
  std::uint64_t others_ = 1000;
  const std::string url_ = "http://test.example/large";
};

}  // namespace proxy::cache::disk

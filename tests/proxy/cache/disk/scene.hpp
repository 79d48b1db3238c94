// A cache on disk for a test, so small that it reclaims segments.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "proxy/cache/disk/disk.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::cache::disk {

constexpr std::chrono::seconds kPatience{20};

// The clock of the system, for disks that a test begins and ends.
inline machine::Clock& running_clock() {
  static machine::Clock clock;
  return clock;
}

inline std::string url_number(std::uint64_t number) {
  return "http://test.example/" + std::to_string(number);
}

inline Key key_for(const std::string& url) {
  return digest::key_of(digest::Method::get, url);
}

inline std::vector<RecordPiece> body_of(std::string_view text) {
  const auto kept = std::make_shared<const std::string>(text);
  return {{kept, bytes_of(*kept)}};
}

// A body that differs for each URL and edition.
inline std::string body_text(const std::string& url, std::size_t bytes, int edition = 0) {
  std::string text;
  while (text.size() < bytes) text += url + '#' + std::to_string(edition) + ' ';
  text.resize(bytes);
  return text;
}

inline NewRecord response(const std::string& url, std::string_view body) {
  return {.header = {.kind = RecordKind::whole, .key = key_for(url)},
          .url = url,
          .head = "200 OK",
          .body = body_of(body)};
}

inline Options small_options(const std::filesystem::path& path) {
  Options options{.path = path, .log = {}};
  options.log.bytes = 16 * 64 * 1024;
  options.log.segment_bytes = 64 * 1024;
  options.gather = std::chrono::milliseconds(0);
  options.first_rest = std::chrono::milliseconds(5);
  options.longest_rest = std::chrono::milliseconds(20);
  return options;
}

// A started disk. append() and purge() return when the record is written.
class Scene {
 public:
  explicit Scene(const std::filesystem::path& path) : Scene(small_options(path)) {}
  explicit Scene(Options options)
      : disk_(
            std::make_unique<Disk>(running_clock(), std::move(options), digest::unpredictable())) {
    const auto started = disk_->start();
    if (started) loaded = *started;
  }

  Disk& operator*() const { return *disk_; }
  Disk* operator->() const { return disk_.get(); }
  void stop() { disk_.reset(); }

  Result<Position> append(NewRecord record) {
    const auto told = std::make_shared<std::promise<Result<Position>>>();
    record.done = [told](Result<Position> at) { told->set_value(at); };
    const auto taken = disk_->append(std::move(record));
    if (!taken) return taken.error();
    auto answer = told->get_future();
    if (answer.wait_for(kPatience) != std::future_status::ready) return Error::busy;
    return answer.get();
  }
  Result<void> purge(const Key& key) {
    const auto told = std::make_shared<std::promise<Result<void>>>();
    disk_->purge(key, [told](Result<void> done) { told->set_value(done); });
    return told->get_future().get();
  }
  Result<void> purge_prefix(std::string_view prefix) {
    const auto told = std::make_shared<std::promise<Result<void>>>();
    const auto taken =
        disk_->purge_prefix(prefix, [told](Result<void> done) { told->set_value(done); });
    if (!taken) return taken;
    return told->get_future().get();
  }

  // The body found under this key, if the record has this URL.
  Result<std::string> body(const Key& key, const std::string& url) {
    const auto place = disk_->find(key, url);
    if (!place) return Error::gone;
    const auto stored = disk_->open(key, *place, Wait::yes);
    if (!stored) return stored.error();
    if (stored->url() != url) return Error::corrupt;
    std::string text(stored->body_bytes(), '\0');
    const std::span<std::uint8_t> into(reinterpret_cast<std::uint8_t*>(text.data()), text.size());
    const auto read = disk_->read_body(*stored, {&into, 1}, Wait::yes);
    if (!read) return read.error();
    return text;
  }
  Result<std::string> body(const std::string& url) { return body(key_for(url), url); }
  Result<std::string> head(const std::string& url) {
    const auto place = disk_->find(key_for(url), url);
    if (!place) return Error::gone;
    const auto stored = disk_->open(key_for(url), *place, Wait::yes);
    if (!stored) return stored.error();
    return std::string(stored->head());
  }

  Loaded loaded;

 private:
  std::unique_ptr<Disk> disk_;
};

// Stops the writer in the record.done of its record, until it is released.
class Halt {
 public:
  NewRecord at(NewRecord record) {
    record.done = [both = both_](const auto&) {
      both->reached.set_value();
      both->released.get_future().wait();
    };
    return record;
  }
  void await() { both_->reached.get_future().wait(); }
  void release() { both_->released.set_value(); }

 private:
  struct Both {
    std::promise<void> reached, released;
  };
  std::shared_ptr<Both> both_ =
      std::make_shared<Both>();  // shared: the writer may use it after this object is gone
};

// A log without the writer's thread, so that a test can look at the files after each step.
struct Alone : Catalog {
  explicit Alone(const Options& options) : Catalog(running_clock()), log(options.log, *this) {
    const auto opened = log.open(options.path);
    EXPECT_TRUE(opened);
  }

  Log log;
};

}  // namespace proxy::cache::disk

// One response on its way in: written by one coroutine, read by all who asked for it meanwhile.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cassert>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/threads/mutex.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy {

// Where a response came from, as Cache-Status and the log tell it.
struct Provenance {
  cache::SourceKind source = cache::SourceKind::origin;
  std::string host;                    // of the server that answered
  std::string peer;                    // its name, if it is one
  std::optional<unsigned> fwd_status;  // what it answered
  bool stored = false;
  bool aged = false;              // it said its Age: not first-hand from the origin
  bool validated = false;         // by a 304: the entry was ours already
  bool stood_in = false;          // stale, in place of an origin that failed
  std::chrono::seconds leave{0};  // by the settings, for it to be stale then
  std::string detail;             // what happened on the way there
};

struct FillHead {
  std::shared_ptr<const cache::Entry> entry;
  std::optional<std::uint64_t> length;  // of the body, where it is known
  bool shareable = false;               // may answer requests other than the one that began it
  std::string asker_fields;             // for the request that began it alone: see cache/entry.hpp
  Provenance provenance;

  // Whether the entry was held before, whole; else its body is not for readers of the fill.
  [[nodiscard]] bool is_stored() const { return provenance.validated || provenance.stood_in; }
};

class FillReader;

// Bytes of a body with what keeps them alive.
struct Piece {
  std::shared_ptr<const cache::Block> block;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};
using Pieces = boost::container::small_vector<Piece, 4>;

// The writer's side belongs to one coroutine; FillReader is the other side; each may be on a thread
// of its own. Order: interim()*, then publish(), then finish(), with fail() at any point instead of
// the next step; append()* before finish(). What is appended before publish() is hidden until then.
class Fill {
 public:
  Fill(std::string url, net::Executor writer)
      : url_(std::move(url)), executor_(writer), writer_(writer) {}

  const std::string& url() const { return url_; }

  void interim(std::string head);
  void publish(FillHead head);
  // `size` bytes of `block` are filled now; the block is the last one appended, or a new one.
  void append(const std::shared_ptr<const cache::Block>& block, std::uint32_t size);
  // Forgets what was appended; only before publish().
  void restart();
  // From now on keeps no more than what some reader has yet to take, and lets nobody else in.
  void keep_window();
  // Waits while the slowest reader is a whole window behind, or a small one where memory is scarce.
  // False: nobody reads any more.
  net::Task<bool> room(bool scarce = false);
  void finish();
  void fail(Failure failure);

  // Whether nobody reads; if so, nobody can begin to any more.
  bool close_if_unread();
  std::uint64_t received() const;
  // All that was appended; only while nothing was dropped.
  cache::Body body() const;
  // `hook` is called on the writer's thread each time that the last reader has left; by then there
  // may be another one. It takes the place of an earlier hook, for calls already on their way too.
  // For the writer only.
  void on_abandoned(std::function<void()> hook);

 private:
  friend class FillReader;
  static constexpr std::uint64_t kWindow = 1 << 20;
  static constexpr std::uint64_t kSmallWindow = 64 * 1024;
  static constexpr std::chrono::seconds kPatience{5};  // with a reader that holds up others

  void call_abandoned(const std::function<void()>& before);
  bool has_room(std::uint64_t window) REQUIRES(mutex_);
  void detach_who_holds_up() REQUIRES(mutex_);
  void wake_readers() REQUIRES(mutex_);
  void drop_behind() REQUIRES(mutex_);
  FillReader* slowest() const REQUIRES(mutex_);

  const std::string url_;
  net::Executor executor_;  // the writer's
  mutable threads::Mutex mutex_;
  Wakeup writer_;
  std::vector<FillReader*> readers_ GUARDED_BY(mutex_);
  std::deque<std::string> interims_ GUARDED_BY(mutex_);
  std::optional<FillHead> head_ GUARDED_BY(mutex_);
  std::deque<cache::Slice> slices_ GUARDED_BY(mutex_);
  std::size_t dropped_ GUARDED_BY(mutex_) = 0;     // slices before slices_.front()
  std::uint64_t received_ GUARDED_BY(mutex_) = 0;  // bytes appended
  bool window_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;  // to new readers
  // By the slowest reader.
  std::optional<std::chrono::steady_clock::time_point> held_up_since_ GUARDED_BY(mutex_);
  bool finished_ GUARDED_BY(mutex_) = false;
  std::optional<Failure> failure_ GUARDED_BY(mutex_);
  std::function<void()> abandoned_ GUARDED_BY(mutex_);
};

// One reader, from the fill's beginning. Belongs to one coroutine; gone means detached.
class FillReader {
 public:
  // Null when the fill has dropped bytes already, was given up or has failed.
  static std::unique_ptr<FillReader> attach(std::shared_ptr<Fill> fill, net::Executor executor);
  ~FillReader();
  FillReader(const FillReader&) = delete;
  FillReader& operator=(const FillReader&) = delete;

  // The next interim head; nothing once the final head, or a failure, is there.
  net::Task<std::optional<std::string>> interim();
  net::Task<Outcome<FillHead>> head();
  // The bytes that are there already, perhaps none.
  Pieces at_hand();
  // The next bytes; none at the end. A cut body ends in a failure, never in an end.
  net::Task<Outcome<Pieces>> next();

 private:
  friend class Fill;
  FillReader(std::shared_ptr<Fill> fill, net::Executor executor)
      : fill_(std::move(fill)), wakeup_(executor) {}
  bool take(Pieces& pieces) REQUIRES(fill_->mutex_);
  // For the fill, which holds its mutex: tells clang that `held` guards the reader.
  void expect_guard([[maybe_unused]] const threads::Mutex& held) const REQUIRES(held)
      ASSERT_CAPABILITY(fill_->mutex_) {
    assert(&held == &fill_->mutex_);
  }

  std::shared_ptr<Fill> fill_;
  Wakeup wakeup_;
  std::size_t interims_seen_ GUARDED_BY(fill_->mutex_) = 0;
  std::size_t slice_ GUARDED_BY(fill_->mutex_) = 0;  // absolute number of the slice to go on with
  std::uint32_t offset_ GUARDED_BY(fill_->mutex_) = 0;    // within it
  std::uint64_t position_ GUARDED_BY(fill_->mutex_) = 0;  // bytes taken
  bool detached_ GUARDED_BY(fill_->mutex_) = false;       // fell too far behind
};

}  // namespace proxy

// One response under way: one coroutine writes it, and all requests for it read it meanwhile.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/container/small_vector.hpp>
#include <boost/core/noncopyable.hpp>
#include <cassert>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/cache/body.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/cache/storability.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/net/frames.hpp"
#include "proxy/net/pipe.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/observe/request_record.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::fill {

// The source of a response, for Cache-Status and the log.
struct Provenance {
  cache::SourceKind source = cache::SourceKind::origin;
  std::string host;  // of the server that answered
  std::string peer;  // the name of the neighbour, or of the parent; empty: the origin answered
  observe::Hierarchy hierarchy = observe::Hierarchy::direct;
  std::optional<unsigned> fwd_status;  // the origin's status
  bool stored = false;
  // Why it is not stored; `yes`: it is, or was before.
  cache::Storability storability = cache::Storability::yes;
  bool aged = false;       // the response has an Age: it is not first-hand from the origin
  bool validated = false;  // a 304 validated the entry, which was stored already
  // How stale the settings let a stand-in be. Set if the entry is stale and stands in for an origin
  // that failed.
  std::optional<std::chrono::seconds> stood_in = {};
  // When the origin was asked, if the request had no-cache, which caches on the way pass on.
  // Nothing: it had none, or a neighbour answered.
  std::optional<std::chrono::steady_clock::time_point> asked_past_caches = {};
  observe::Inquiries inquiries;
};

struct FillHead {
  cache::Ref<const cache::Entry> entry;
  std::optional<std::uint64_t> length;  // of the body, if known
  bool shareable = false;               // may answer requests other than the fill's first
  std::string asker_fields;             // only for the fill's first request: see cache/entry.hpp
  Provenance provenance;

  // Whether the whole entry was stored before. If not, readers take the body from the fill, not
  // from the entry.
  [[nodiscard]] bool is_stored() const { return provenance.validated || provenance.stood_in; }
};

class FillReader;

// How the writer has ended, once it has.
struct FillEnd {
  bool finished = false;
  // Why the body was not stored, as far as the head did not tell.
  cache::Storability storability = cache::Storability::yes;
  std::optional<upstream::Failure> failure = {};
  std::vector<observe::Inquiry> asked = {};  // the sources that were asked before the failure
};

// The slices of a body on its way. Numbers them from 0 in the order of their arrival. The oldest
// may be dropped. Not thread-safe.
class ArrivedSlices {
 public:
  // `size`: bytes of `block` that are filled by now, perhaps none. The block is the last one
  // appended, or a new one.
  void append(const cache::Ref<const cache::Block>& block, std::uint32_t size) {
    if (slices_.empty() || slices_.back().block != block) {
      slices_.push_back({block, size});
      bytes_ += size;
    } else {
      bytes_ += size - slices_.back().size;
      slices_.back().size = size;
    }
  }

  void clear() {
    slices_.clear();
    bytes_ = 0;
  }

  // Drops the slices with lower numbers. The last slice stays: the writer may still be adding to
  // its block.
  void drop_before(std::size_t number);

  // The slice must have arrived and must not have been dropped.
  const cache::Slice& operator[](std::size_t number) const { return slices_[number - dropped_]; }
  // The number of the next slice to arrive.
  std::size_t next() const { return dropped_ + slices_.size(); }
  // How many bytes have arrived, those of dropped slices included.
  std::uint64_t bytes() const { return bytes_; }
  // The memory that the slices from this number on take, and the part that is charged to `budget`.
  struct Charged {
    std::uint64_t bytes = 0;
    std::uint64_t to_budget = 0;
  };
  Charged charged_from(std::size_t number, const cache::Budget& budget) const;
  // All slices that have bytes. Call this only while no slice was dropped.
  cache::Body body() const {
    const bool last_is_empty = !slices_.empty() && slices_.back().size == 0;
    return {{slices_.begin(), slices_.end() - (last_is_empty ? 1 : 0)}, bytes_};
  }

 private:
  // Most bodies have one slice. A window drops slices while it has few (Fill::kWindow).
  boost::container::small_vector<cache::Slice, 1> slices_;
  std::size_t dropped_ = 0;
  std::uint64_t bytes_ = 0;
};

// A body on its way that its writer lends to the only reader, so that it passes within the kernel.
// Belongs to the fill's writer, which waits while the reader has it (see Fill::lend).
class LentBody : boost::noncopyable {
 public:
  // A shorter rest costs less in memory.
  static constexpr std::uint64_t kLeast = 256 * 1024;

  LentBody() = default;

  // Moves the next bytes of the body, at least one, into the pipe, which is empty. Zero: the body
  // has ended.
  virtual net::Task<upstream::Outcome<std::size_t>> next(net::Pipe& into) = 0;

 protected:
  ~LentBody() = default;
};

// Bytes of a body, and the block that keeps them alive.
struct Piece {
  cache::Ref<const cache::Block> block;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};
using Pieces = boost::container::small_vector<Piece, 4>;

// The state of a fill that keeps only the bytes that its readers have yet to take.
struct FillWindow {
  // Since when the slowest reader holds up the writer.
  std::optional<std::chrono::steady_clock::time_point> held_up_since = {};
  LentBody* lent = nullptr;
  bool borrowed = false;     // the reader uses `lent`
  std::uint64_t passed = 0;  // bytes that were lent and never appended
};

// Where a fill is written, and the clock that tells how long its source and its readers are waited
// for. Without a clock, no reader is slow.
struct FillPlace {
  FillPlace(net::Executor its_writer, const machine::Clock* its_clock = nullptr)
      : executor(its_writer), clock(its_clock) {}

  net::Executor executor;
  const machine::Clock* clock;
};

// The writer's side belongs to one coroutine. FillReader is the other side. Each may be on a thread
// of its own. Order: interim()*, then publish(), then finish(), with fail() at any point instead of
// the next step; append()* before finish(). Bytes appended before publish() are hidden until then.
class Fill {
 public:
  Fill(std::string_view url, const FillPlace& place)
      : url_(url), clock_(place.clock), writer_{place.executor} {}

  std::string_view url() const { return url_; }

  // Fills calls this before another thread can find the fill.
  void record_listed() { was_listed_ = true; }
  // Whether Fills has ever listed the fill.
  bool was_listed() const { return was_listed_; }

  void interim(std::string head);
  // `window`: also calls keep_window().
  enum class Keeps : std::uint8_t { all, window };
  void publish(FillHead head, Keeps keeps = Keeps::all);
  // Announces the block that the next bytes will be in. From now on its memory counts for the
  // readers (FillReader::held()), even if the source sends nothing.
  void expect(const cache::Ref<const cache::Block>& block);
  // See ArrivedSlices::append().
  void append(const cache::Ref<const cache::Block>& block, std::uint32_t size);
  // Forgets all appended bytes; only before publish().
  void restart();
  // Begins to keep only bytes that some reader has yet to take, and admits no further reader.
  void keep_window();
  // Waits while the slowest reader is `window` bytes behind.
  static constexpr std::uint64_t kWindow = 1 << 20;
  enum class Room : std::uint8_t { some, no_reader };
  net::Task<Room> room(std::uint64_t window = kWindow);
  // Lends the rest of the body to the reader, and waits until the reader gives it back or leaves.
  // Returns at once if the reader does not borrow, is on another thread or is not the only one; or
  // before keep_window(), because a further reader could attach.
  net::Task<void> lend(LentBody& body);
  // `storability`: whether the body was stored, or why not, as far as the head did not tell.
  void finish(cache::Storability storability = cache::Storability::yes);
  // `asked`: the sources that have failed, see Inquiries::list.
  void fail(upstream::Failure failure, std::vector<observe::Inquiry> asked = {});

  // The member of the site (peers::Epoch) that the writer waits for, and that has said that it
  // waits for its own source; 0: none. Any thread.
  std::atomic<std::uint64_t> awaited_member{0};

  // Returns whether the fill has no reader. If so, no reader can attach any more.
  bool close_if_unread();
  std::uint64_t received() const;
  // The whole body so far. Call it only before any byte was dropped.
  cache::Body body() const;
  // Sets the hook that is called on the writer's thread each time that the last reader has left. By
  // the time of the call there may be another reader. The hook replaces an earlier one, even for
  // calls that are already posted. For the writer only. An empty function is not called.
  using Hook = std::shared_ptr<const std::function<void()>>;
  void on_abandoned(Hook hook);
  void on_abandoned(std::function<void()> hook) {
    on_abandoned(std::make_shared<const std::function<void()>>(std::move(hook)));
  }

 private:
  friend class FillReader;
  static constexpr std::chrono::seconds kPatience{5};  // how long a reader may hold up others

  struct Heads {
    std::vector<std::string> interim;
    std::optional<FillHead> last;
  };

  struct Writer {
    net::Executor executor;
    // Made when the writer first waits for room, which few writers do. It then stays.
    std::optional<net::Wakeup> wakeup = {};

    void wake() {
      if (wakeup) wakeup->notify();
    }
  };

  struct Readers {
    // Returns whether it was attached.
    bool detach(const FillReader* reader) {
      const auto place = std::find(attached.begin(), attached.end(), reader);
      if (place == attached.end()) return false;
      attached.erase(place);
      return true;
    }

    boost::container::small_vector<FillReader*, 2> attached = {};  // mostly one
    bool closed = false;                                           // to new ones
    bool borrows = false;                                          // the last one that was asked
    Hook on_abandoned = {};  // called once the last one has left
  };

  void call_abandoned(const Hook& before);
  bool has_room(std::uint64_t size) REQUIRES(mutex_);
  void detach_who_holds_up() REQUIRES(mutex_);
  void wake_readers() REQUIRES(mutex_);
  void drop_behind() REQUIRES(mutex_);
  FillReader* slowest() const REQUIRES(mutex_);

  const net::FrameString url_;
  const machine::Clock* const clock_;
  bool was_listed_ = false;
  // The sum of arrived_.bytes() and FillWindow::passed.
  std::atomic<std::uint64_t> received_{0};
  mutable threads::Mutex mutex_{threads::Place::third};
  Writer writer_ GUARDED_BY(mutex_);
  Readers readers_ GUARDED_BY(mutex_);
  Heads heads_ GUARDED_BY(mutex_);
  ArrivedSlices arrived_ GUARDED_BY(mutex_);
  std::optional<FillWindow> window_ GUARDED_BY(mutex_);  // nothing: all slices are kept
  FillEnd end_ GUARDED_BY(mutex_);
};

// One reader, which reads the fill from its beginning. Belongs to one coroutine. The destructor
// detaches it.
class FillReader : public net::InFrameMemory, boost::noncopyable {
 public:
  // Null if the fill keeps only a window, was given up, or has failed.
  static std::unique_ptr<FillReader> attach(std::shared_ptr<Fill> fill, net::Executor executor);
  // The same, with a Wakeup that outlives the reader. It serves one reader at a time.
  static std::unique_ptr<FillReader> attach(std::shared_ptr<Fill> fill, net::Wakeup& wakeup);
  ~FillReader();

  // What has arrived: the next interim head, else the final head or a failure. If neither is set,
  // call news() again once the Wakeup is notified.
  struct News {
    std::optional<std::string> interim = {};
    std::optional<upstream::Outcome<const FillHead*>> head = {};
  };
  [[nodiscard]] News news();
  // The head lives as long as the fill.
  net::Task<upstream::Outcome<const FillHead*>> head();
  // The end of the fill. Call this after the last bytes, or after a failure.
  [[nodiscard]] FillEnd end() const;
  // The next bytes that have arrived already, perhaps none.
  Pieces at_hand();
  // Whether the writer has ended, or the reader has left.
  bool is_over() const;
  // Whether next() would return at once that there are no more bytes.
  [[nodiscard]] bool at_end() const;
  // Waits for the next bytes; none at the end, and none if the writer lends the rest of the body. A
  // cut body is a failure, never an end.
  net::Task<upstream::Outcome<Pieces>> next();

  // Whether the writer may lend the body to this reader from now on.
  enum class Borrows : std::uint8_t { no, yes };
  void borrows(Borrows does);
  // The rest of a body. The destructor gives it back: next() then tells of its end or its failure.
  class Borrowed : boost::noncopyable {
   public:
    Borrowed(FillReader& reader, LentBody& body) : reader_(reader), body_(body) {
      if (reader.slow_) reader.slow_->taken = 0;  // from now on it compares with moved_
    }
    ~Borrowed();

    // See LentBody::next(). While it waits, waits_since() tells so.
    net::Task<upstream::Outcome<std::size_t>> next(net::Pipe& into);

   private:
    void record(std::size_t moved);

    FillReader& reader_;
    LentBody& body_;
    std::uint64_t moved_ = 0;
  };
  [[nodiscard]] bool is_lent() const;
  // What the writer lends. Null: nothing.
  std::unique_ptr<Borrowed> borrow();

  // These three are for other coroutines of the reader's thread.
  // The reader holds the bytes that it has yet to take, the bytes that it took last, and the block
  // that the source is to fill. The result is their memory, and the part that `budget` pays for.
  // The readers of one fill count equal parts of this memory.
  using Held = ArrivedSlices::Charged;
  [[nodiscard]] Held held(const cache::Budget& budget) const;
  // If next() waits, returns since when the source is slow: since then it has sent fewer bytes than
  // one block has room for. A source that sends a byte now and then thus counts as silent. Returns
  // nothing if next() does not wait.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> waits_since() const;
  // Says that a limit of bandwidth begins to keep the reader from taking bytes, or ceases to.
  // Meanwhile, and for kPatience after, the reader is not detached for holding up others.
  enum class HeldBack : std::uint8_t { no, yes };
  void held_back(HeldBack is);
  // Leaves the fill, which then keeps nothing for the reader. head() and next() fail with
  // `overload`.
  void leave();

 private:
  friend class Fill;
  FillReader(std::shared_ptr<Fill> fill, net::Wakeup& wakeup)
      : fill_(std::move(fill)), wakeup_(wakeup) {}
  FillReader(std::shared_ptr<Fill> fill, net::Executor executor)
      : fill_(std::move(fill)), own_wakeup_(std::in_place, executor), wakeup_(*own_wakeup_) {}
  static std::unique_ptr<FillReader> attached(std::unique_ptr<FillReader> reader);
  [[nodiscard]] std::optional<upstream::Outcome<const FillHead*>> known_head() const
      REQUIRES(fill_->mutex_);
  bool take(Pieces& pieces) REQUIRES(fill_->mutex_);
  void pass_taken() REQUIRES(fill_->mutex_);
  void detach() REQUIRES(fill_->mutex_);
  // For the fill, which holds its mutex: tells clang that `held` guards the reader.
  void expect_guard([[maybe_unused]] const threads::Mutex& held) const REQUIRES(held)
      ASSERT_CAPABILITY(fill_->mutex_) {
    assert(&held == &fill_->mutex_);
  }

  std::shared_ptr<Fill> fill_;
  std::optional<net::Wakeup> own_wakeup_;
  net::Wakeup& wakeup_;
  // Since when the source is slow, and the bytes taken by then.
  struct Slow {
    std::chrono::steady_clock::time_point since;
    std::uint64_t taken;
  };

  bool waits_ = false;  // for the source
  std::optional<Slow> slow_;
  std::atomic<std::chrono::steady_clock::time_point> held_back_until_{};
  std::size_t interims_seen_ GUARDED_BY(fill_->mutex_) = 0;
  // The number of the next slice, counted from the first one, dropped ones included.
  std::size_t slice_ GUARDED_BY(fill_->mutex_) = 0;
  std::uint32_t offset_ GUARDED_BY(fill_->mutex_) = 0;    // within it
  std::uint64_t position_ GUARDED_BY(fill_->mutex_) = 0;  // bytes taken
  std::uint64_t in_hand_ GUARDED_BY(fill_->mutex_) = 0;   // of these, the bytes taken last
  bool detached_ GUARDED_BY(fill_->mutex_) = false;       // fell too far behind, or left
};

}  // namespace proxy::fill

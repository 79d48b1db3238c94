#include "proxy/fill/fill.hpp"

#include <algorithm>
#include <tuple>

namespace proxy::fill {
namespace {

// One write of a client; with more, its thread would neglect the others.
constexpr std::size_t kMaxTaken = 256 * 1024;  // bytes handed to a reader at once
constexpr upstream::Failure kLeft{
    upstream::Failure::Where::us, upstream::Failure::What::overload, {}};

}  // namespace

void ArrivedSlices::drop_before(std::size_t number) {
  if (number <= dropped_ || slices_.size() < 2) return;
  const auto many = std::min(number - dropped_, slices_.size() - 1);
  slices_.erase(slices_.begin(), slices_.begin() + static_cast<std::ptrdiff_t>(many));
  dropped_ += many;
}

ArrivedSlices::Charged ArrivedSlices::charged_from(std::size_t number,
                                                   const cache::Budget& budget) const {
  Charged charged;
  for (auto at = number - dropped_; at < slices_.size(); ++at) {
    charged.bytes += slices_[at].block->charged();
    charged.to_budget += slices_[at].block->charged_to(budget);
  }
  return charged;
}

void Fill::interim(std::string head) {
  const threads::MutexLock lock(mutex_);
  heads_.interim.push_back(std::move(head));
  wake_readers();
}

void Fill::publish(FillHead head, Keeps keeps) {
  const threads::MutexLock lock(mutex_);
  // From here on the bytes that came before the head are visible: see take().
  heads_.last = std::move(head);
  if (keeps == Keeps::window && !window_) window_.emplace();
  drop_behind();
  wake_readers();
}

void Fill::expect(const cache::Ref<const cache::Block>& block) {
  const threads::MutexLock lock(mutex_);
  arrived_.append(block, 0);
  // A reader that has taken all of a block leaves it now, or the window would keep it full and
  // idle.
  for (auto* reader : readers_.attached) {
    reader->expect_guard(mutex_);
    reader->pass_taken();
  }
  drop_behind();
}

void Fill::append(const cache::Ref<const cache::Block>& block, std::uint32_t size) {
  const threads::MutexLock lock(mutex_);
  arrived_.append(block, size);
  const auto passed = window_ ? window_->passed : 0;
  received_.store(arrived_.bytes() + passed, std::memory_order_release);
  wake_readers();
}

void Fill::restart() {
  const threads::MutexLock lock(mutex_);
  arrived_.clear();
  received_.store(0, std::memory_order_release);
}

void Fill::keep_window() {
  const threads::MutexLock lock(mutex_);
  if (!window_) window_.emplace();
  drop_behind();
}

net::Task<Fill::Room> Fill::room(std::uint64_t window) {
  for (;;) {
    net::Wakeup* wakeup = nullptr;
    {
      const threads::MutexLock lock(mutex_);
      if (readers_.attached.empty()) co_return Room::no_reader;
      if (has_room(window)) co_return Room::some;
      detach_who_holds_up();
      if (!writer_.wakeup) writer_.wakeup.emplace(writer_.executor);
      wakeup = &*writer_.wakeup;
    }
    // Bounded, since a reader that holds up the others makes no sound.
    co_await wakeup->wait(kPatience);
  }
}

// A reader that reads slowly but steadily makes a little room now and then. It counts as having
// caught up only when it is less than half a window behind.
bool Fill::has_room(std::uint64_t size) {
  if (!window_) return true;
  const auto* const reader = slowest();
  reader->expect_guard(mutex_);
  const auto behind = arrived_.bytes() - reader->position_;
  if (behind < size / 2) window_->held_up_since.reset();
  return behind < size;
}

// Detaches the slowest reader if it has held up the others for kPatience. A single reader holds up
// nobody, and a reader that a limit of bandwidth holds back is not to blame.
void Fill::detach_who_holds_up() {
  if (!clock_) return;
  const auto now = clock_->steady();
  auto& since = window_->held_up_since;
  if (!since) since = now;
  if (now - *since < kPatience || readers_.attached.size() < 2) return;
  since.reset();
  auto* const behind = slowest();
  if (now - kPatience < behind->held_back_until_.load()) return;
  behind->expect_guard(mutex_);
  behind->detached_ = true;
  readers_.detach(behind);
  behind->wakeup_.notify();
  writer_.wake();  // there may be room now
  drop_behind();
}

void Fill::finish(cache::Storability storability) {
  const threads::MutexLock lock(mutex_);
  end_.finished = true;
  end_.storability = storability;
  readers_.on_abandoned = nullptr;
  wake_readers();
}

void Fill::fail(upstream::Failure failure, std::vector<observe::Inquiry> asked) {
  const threads::MutexLock lock(mutex_);
  end_.failure = failure;
  end_.asked = std::move(asked);
  readers_.on_abandoned = nullptr;
  wake_readers();
}

bool Fill::close_if_unread() {
  const threads::MutexLock lock(mutex_);
  // For good: the writer ends after this, and a later reader would wait for nothing.
  readers_.closed = readers_.closed || readers_.attached.empty();
  return readers_.closed;
}

std::uint64_t Fill::received() const {
  return received_.load(std::memory_order_acquire);
}

cache::Body Fill::body() const {
  const threads::MutexLock lock(mutex_);
  return arrived_.body();
}

void Fill::on_abandoned(Hook hook) {
  const threads::MutexLock lock(mutex_);
  readers_.on_abandoned = std::move(hook);
}

// Calls the present hook. If the fill has ended, it has none: then calls `before`, the hook at the
// time when the last reader left.
void Fill::call_abandoned(const Hook& before) {
  Hook hook;  // kept alive, because the call may end the fill
  {
    const threads::MutexLock lock(mutex_);
    hook = readers_.on_abandoned ? readers_.on_abandoned : before;
  }
  if (*hook) (*hook)();
}

void Fill::wake_readers() {
  for (auto* reader : readers_.attached) reader->wakeup_.notify();
}

FillReader* Fill::slowest() const {
  const auto is_behind = [this](const FillReader* a, const FillReader* b) REQUIRES(mutex_) {
    a->expect_guard(mutex_);
    b->expect_guard(mutex_);
    return std::tie(a->slice_, a->offset_) < std::tie(b->slice_, b->offset_);
  };
  return *std::min_element(readers_.attached.begin(), readers_.attached.end(), is_behind);
}

void Fill::drop_behind() {
  if (!window_) return;
  auto keep_from = arrived_.next();
  if (!readers_.attached.empty()) {
    const auto* const reader = slowest();
    reader->expect_guard(mutex_);
    keep_from = reader->slice_;
  }
  arrived_.drop_before(keep_from);
}

std::unique_ptr<FillReader> FillReader::attached(std::unique_ptr<FillReader> reader) {
  auto& shared = *reader->fill_;
  const threads::MutexLock lock(shared.mutex_);
  // A window has lost the beginning, which each reader is promised.
  if (shared.window_ || shared.readers_.closed || shared.end_.failure) return nullptr;
  shared.readers_.attached.push_back(reader.get());
  return reader;
}

std::unique_ptr<FillReader> FillReader::attach(std::shared_ptr<Fill> fill, net::Executor executor) {
  return attached(std::unique_ptr<FillReader>(new FillReader(std::move(fill), executor)));
}

std::unique_ptr<FillReader> FillReader::attach(std::shared_ptr<Fill> fill, net::Wakeup& wakeup) {
  return attached(std::unique_ptr<FillReader>(new FillReader(std::move(fill), wakeup)));
}

FillReader::~FillReader() {
  const threads::MutexLock lock(fill_->mutex_);
  detach();
}

void FillReader::leave() {
  const threads::MutexLock lock(fill_->mutex_);
  detached_ = true;
  detach();
  wakeup_.notify();
}

// Bytes in hand whose slice the reader has left count as charged to the budget to which the rest
// is.
FillReader::Held FillReader::held(const cache::Budget& budget) const {
  const threads::MutexLock lock(fill_->mutex_);
  // A reader that has left keeps nothing alive.
  if (detached_) return {};
  auto held = fill_->arrived_.charged_from(slice_, budget);
  const auto left_behind = in_hand_ - std::min<std::uint64_t>(in_hand_, offset_);
  if (held.to_budget > 0) held.to_budget += left_behind;
  held.bytes += left_behind;
  // The bytes exist once, so each reader counts its share: else ten readers of one slow body would
  // look like ten slow clients.
  const auto readers = fill_->readers_.attached.size();
  return {held.bytes / readers, held.to_budget / readers};
}

std::optional<std::chrono::steady_clock::time_point> FillReader::waits_since() const {
  return waits_ && slow_ ? std::optional(slow_->since) : std::nullopt;
}

void FillReader::held_back(HeldBack is) {
  using Time = std::chrono::steady_clock::time_point;
  if (is == HeldBack::yes)
    held_back_until_ = Time::max();
  else if (fill_->clock_)
    held_back_until_ = fill_->clock_->steady();
}

void FillReader::detach() {
  if (!fill_->readers_.detach(this)) return;
  fill_->drop_behind();
  fill_->writer_.wake();
  if (fill_->readers_.attached.empty() && fill_->readers_.on_abandoned) {
    // Posted: the reader may be on another thread, and holds the lock.
    net::asio::post(fill_->writer_.executor, [fill = fill_, before = fill_->readers_.on_abandoned] {
      fill->call_abandoned(before);
    });
  }
}

FillReader::News FillReader::news() {
  const threads::MutexLock lock(fill_->mutex_);
  // Interim heads in their order, before the final one, however late the reader looks.
  const bool has_interim = !detached_ && interims_seen_ < fill_->heads_.interim.size();
  if (has_interim) return {.interim = fill_->heads_.interim[interims_seen_++]};
  return {.head = known_head()};
}

net::Task<upstream::Outcome<const FillHead*>> FillReader::head() {
  for (;;) {
    {
      const threads::MutexLock lock(fill_->mutex_);
      if (const auto known = known_head()) co_return *known;
    }
    co_await wakeup_.wait();
  }
}

std::optional<upstream::Outcome<const FillHead*>> FillReader::known_head() const {
  if (fill_->heads_.last) return &*fill_->heads_.last;
  if (fill_->end_.failure) return *fill_->end_.failure;
  if (detached_) return kLeft;
  return std::nullopt;
}

FillEnd FillReader::end() const {
  const threads::MutexLock lock(fill_->mutex_);
  return fill_->end_;
}

Pieces FillReader::at_hand() {
  Pieces pieces;
  const threads::MutexLock lock(fill_->mutex_);
  if (!detached_) take(pieces);
  return pieces;
}

bool FillReader::is_over() const {
  const threads::MutexLock lock(fill_->mutex_);
  return fill_->end_.finished || fill_->end_.failure || detached_;
}

// A failure is no end: next() has to tell of it.
bool FillReader::at_end() const {
  const threads::MutexLock lock(fill_->mutex_);
  return fill_->end_.finished && !detached_ && position_ == fill_->arrived_.bytes();
}

net::Task<upstream::Outcome<Pieces>> FillReader::next() {
  Pieces pieces;
  for (;;) {
    {
      const threads::MutexLock lock(fill_->mutex_);
      in_hand_ = 0;
      if (detached_) co_return kLeft;
      if (take(pieces)) {
        const bool is_much =
            slow_ && position_ - slow_->taken >= fill_->arrived_[slice_].block->capacity();
        if (is_much) slow_.reset();
        co_return pieces;
      }
      if (fill_->end_.failure) co_return *fill_->end_.failure;
      if (fill_->end_.finished || (fill_->window_ && fill_->window_->lent)) co_return pieces;
      if (!slow_ && fill_->clock_) slow_ = Slow{fill_->clock_->steady(), position_};
    }
    waits_ = true;
    co_await wakeup_.wait();
    waits_ = false;
  }
}

// Leaves the slice whose bytes are all taken, if another one follows.
void FillReader::pass_taken() {
  if (slice_ + 1 >= fill_->arrived_.next() || offset_ < fill_->arrived_[slice_].size) return;
  ++slice_;
  offset_ = 0;
}

bool FillReader::take(Pieces& pieces) {
  std::size_t taken = 0;
  // Bytes that come before the head is judged are for nobody yet.
  if (!fill_->heads_.last) return false;
  while (taken < kMaxTaken && position_ < fill_->arrived_.bytes()) {
    const auto& slice = fill_->arrived_[slice_];
    if (offset_ == slice.size) {
      ++slice_;
      offset_ = 0;
      continue;
    }
    const auto size = slice.size - offset_;
    pieces.push_back({slice.block, offset_, size});
    offset_ += size;
    position_ += size;
    taken += size;
  }
  if (taken == 0) return false;
  in_hand_ = taken;
  pass_taken();
  fill_->drop_behind();
  if (fill_->window_) fill_->writer_.wake();
  return true;
}

}  // namespace proxy::fill

// How a fill lends its body, and how the reader borrows it.
#include "proxy/fill/fill.hpp"

namespace proxy::fill {
namespace {

constexpr std::uint64_t kBlockOfOthers = 64 * 1024;

}  // namespace

net::Task<void> Fill::lend(LentBody& body) {
  net::Wakeup* wakeup = nullptr;
  {
    const threads::MutexLock lock(mutex_);
    const auto& attached = readers_.attached;
    // Another reader would need the bytes, too, and a reader on another thread would use the
    // connection while this one may close it.
    const bool may = window_ && readers_.borrows && attached.size() == 1 &&
                     attached.front()->wakeup_.executor() == writer_.executor;
    if (!may) co_return;
    window_->lent = &body;
    wake_readers();
    if (!writer_.wakeup) writer_.wakeup.emplace(writer_.executor);
    wakeup = &*writer_.wakeup;
  }
  for (;;) {
    {
      const threads::MutexLock lock(mutex_);
      // A reader that has left may still be using the body.
      if (readers_.attached.empty() && !window_->borrowed) window_->lent = nullptr;
      if (!window_->lent) co_return;
    }
    co_await wakeup->wait();
  }
}

void FillReader::borrows(Borrows does) {
  const threads::MutexLock lock(fill_->mutex_);
  fill_->readers_.borrows = does == Borrows::yes;
}

bool FillReader::is_lent() const {
  const threads::MutexLock lock(fill_->mutex_);
  return fill_->window_ && fill_->window_->lent;
}

std::unique_ptr<FillReader::Borrowed> FillReader::borrow() {
  const threads::MutexLock lock(fill_->mutex_);
  if (detached_ || !fill_->window_ || !fill_->window_->lent) return nullptr;
  fill_->window_->borrowed = true;
  return std::make_unique<Borrowed>(*this, *fill_->window_->lent);
}

net::Task<upstream::Outcome<std::size_t>> FillReader::Borrowed::next(net::Pipe& into) {
  const auto* const clock = reader_.fill_->clock_;
  if (!reader_.slow_ && clock) reader_.slow_ = Slow{clock->steady(), moved_};
  reader_.waits_ = true;
  const auto moved = co_await body_.next(into);
  reader_.waits_ = false;
  if (moved) record(*moved);
  co_return moved;
}

void FillReader::Borrowed::record(std::size_t moved) {
  moved_ += moved;
  if (reader_.slow_ && moved_ - reader_.slow_->taken >= kBlockOfOthers) reader_.slow_.reset();
  auto& fill = *reader_.fill_;
  const threads::MutexLock lock(fill.mutex_);
  fill.window_->passed += moved;
  fill.received_.store(fill.arrived_.bytes() + fill.window_->passed, std::memory_order_release);
}

FillReader::Borrowed::~Borrowed() {
  auto& fill = *reader_.fill_;
  const threads::MutexLock lock(fill.mutex_);
  fill.window_->borrowed = false;
  fill.window_->lent = nullptr;
  fill.writer_.wake();
}

}  // namespace proxy::fill

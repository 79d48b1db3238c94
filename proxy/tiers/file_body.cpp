#include "proxy/tiers/file_body.hpp"

#include <functional>
#include <utility>

#include "proxy/tiers/read_in_time.hpp"

namespace proxy::tiers {

using cache::CheckedBodies;
using net::Task;
namespace disk = cache::disk;

std::shared_ptr<FileBody> FileBody::of(Tiers& tiers, disk::StoredBody stored) {
  auto body = std::make_shared<FileBody>(tiers, std::move(stored));
  const bool in_time = body->stored().segment->users.add(body);
  return in_time ? body : nullptr;
}

void FileBody::save() {
  if (saved()) return;
  auto read = tiers_.disk->read_body(stored_, tiers_.store, disk::Wait::yes);
  if (!read) return;
  auto body = std::make_shared<const cache::Body>(std::move(*read));
  const threads::MutexLock lock(mutex_);
  saved_ = std::move(body);
}

std::shared_ptr<const cache::Body> FileBody::saved() const {
  const threads::MutexLock lock(mutex_);
  return saved_;
}

namespace {

// On the worker's thread if that takes neither waiting nor long.
Task<bool> is_intact(Reader& reader, std::shared_ptr<FileBody> body, bool is_there) {
  if (is_there && body->size() <= cache::EntryReader::kReadAtOnce) {
    co_return body->stored().check(disk::Wait::no).has_value();
  }
  std::function<disk::Result<bool>()> check = [body]() -> disk::Result<bool> {
    const auto checked = body->stored().check(disk::Wait::yes);
    if (!checked) return checked.error();
    return true;
  };
  const auto intact = co_await read_in_time<bool>(reader, std::move(check));
  co_return intact.has_value();
}

// Whether the page cache has the body, and it is verified.
Task<bool> is_verified(Reader& reader, std::shared_ptr<FileBody> body, bool is_there) {
  auto& checked = reader.checked_bodies;
  const auto at = body->stored().at;
  const auto last = checked.last_check(at, reader.tiers.clock.steady());
  if (is_there && last == CheckedBodies::Check::lately) co_return true;
  const bool intact = co_await is_intact(reader, body, is_there);
  if (!intact) co_return false;
  checked.record(at, reader.tiers.clock.steady());
  co_return body->stored().in_page_cache();
}

}  // namespace

Task<bool> may_be_sent(Reader& reader, std::shared_ptr<FileBody> body) {
  auto& checked = reader.checked_bodies;
  const auto at = body->stored().at;
  const bool is_there = body->stored().in_page_cache();
  const auto last = checked.last_check(at, reader.tiers.clock.steady());
  if (!is_there && last != CheckedBodies::Check::none) {
    checked.forget(at);  // the page cache does not keep it: memory is to
    co_return false;
  }
  co_return co_await is_verified(reader, std::move(body), is_there);
}

Task<bool> CacheAccess::may_go_on(std::shared_ptr<FileBody> body) {
  if (body->saved()) co_return false;
  const bool verified = co_await is_verified(reader_, body, body->stored().in_page_cache());
  if (verified) co_return true;
  std::function<disk::Result<bool>()> save = [body]() -> disk::Result<bool> {
    body->save();
    return true;
  };
  co_await read_in_time<bool>(reader_, std::move(save));
  co_return false;
}

}  // namespace proxy::tiers

#include "peers/suspicion.hpp"

#include <algorithm>

namespace peers {
namespace {

// The scheme and the authority of a URL.
std::string_view origin_of(std::string_view url) {
  const auto scheme_end = url.find("://");
  if (scheme_end == url.npos) return {};
  return url.substr(0, url.find('/', scheme_end + 3));
}

}  // namespace

// A repeated note replaces the earlier one. Notes older than the window are forgotten.
void Suspicion::note(Notes& notes, std::string_view what, SteadyTime now) {
  std::erase_if(
      notes, [&](const Noted& noted) { return noted.what == what || noted.when + kWindow <= now; });
  notes.push_back({std::string(what), now});
}

bool Suspicion::contradicted(std::string_view url, SteadyTime now) {
  const threads::MutexLock lock(mutex_);
  const bool no_witness = std::any_of(varying_.begin(), varying_.end(), [&](const Noted& origin) {
    return now < origin.when + kWindow && origin.what == origin_of(url);
  });
  if (no_witness) return false;
  note(urls_, url, now);
  if (urls_.size() < kUrls) return false;
  urls_.erase(urls_.begin(), urls_.end() - 1);
  return true;
}

void Suspicion::origin_varies(std::string_view url, SteadyTime now) {
  const threads::MutexLock lock(mutex_);
  const auto origin = origin_of(url);
  note(varying_, origin, now);
  if (varying_.size() > kMostOrigins) varying_.pop_front();
  std::erase_if(urls_, [&](const Noted& noted) { return origin_of(noted.what) == origin; });
}

bool Suspicion::exists(SteadyTime now) const {
  const threads::MutexLock lock(mutex_);
  return !urls_.empty() && now < urls_.back().when + kWindow;
}

bool Suspicion::begin_doubt() {
  const threads::MutexLock lock(mutex_);
  if (doubts_ >= kMostDoubts) return false;
  ++doubts_;
  return true;
}

void Suspicion::end_doubt() {
  const threads::MutexLock lock(mutex_);
  --doubts_;
}

}  // namespace peers

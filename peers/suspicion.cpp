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

void Suspicion::origin_varies(std::string_view url, SteadyTime now) {
  const auto origin = origin_of(url);
  const threads::MutexLock lock(mutex_);
  std::erase_if(varying_, [&](const Varying& one) { return one.origin == origin; });
  varying_.push_back({std::string(origin), now});
  if (varying_.size() > kMostOrigins) varying_.pop_front();
}

bool Suspicion::may_testify(std::string_view url, SteadyTime now) const {
  const auto origin = origin_of(url);
  const threads::MutexLock lock(mutex_);
  return std::none_of(varying_.begin(), varying_.end(), [&](const Varying& one) {
    return now < one.seen + kWhile && one.origin == origin;
  });
}

bool Suspicion::begin_doubt(const std::string& origin) {
  const threads::MutexLock lock(mutex_);
  const bool is_in_doubt = std::count(in_doubt_.begin(), in_doubt_.end(), origin) > 0;
  if (is_in_doubt || in_doubt_.size() >= kMostDoubts) return false;
  in_doubt_.push_back(origin);
  return true;
}

void Suspicion::end_doubt(const std::string& origin) {
  const threads::MutexLock lock(mutex_);
  std::erase(in_doubt_, origin);
}

Suspicion::Doubt::Doubt(Suspicion& suspicion, std::string_view url)
    : suspicion_(suspicion),
      origin_(origin_of(url)),
      followed_up_(suspicion.begin_doubt(origin_)) {}

Suspicion::Doubt::~Doubt() {
  if (followed_up_) suspicion_.end_doubt(origin_);
}

}  // namespace peers

#include "proxy/upstream/known_answers.hpp"

#include <utility>

namespace proxy::upstream {

std::optional<KnownAnswers::Answer> KnownAnswers::find(const std::string& question,
                                                       Time now) const {
  const threads::MutexLock lock(mutex_);
  const auto* const known = known_.find(question, now);
  return known ? std::optional(*known) : std::nullopt;
}

void KnownAnswers::record(const std::string& question, Answer answer, Time until) {
  const threads::MutexLock lock(mutex_);
  known_.put(question, std::move(answer), until);
}

KnownAnswers::Asking::Asking(KnownAnswers& all, std::string question)
    : all_(all), question_(std::move(question)) {}

KnownAnswers::Asking::~Asking() {
  if (!begun_) return;
  {
    const threads::MutexLock lock(all_.mutex_);
    all_.asked_.erase(question_);
  }
  all_.line_.wake_all();
}

bool KnownAnswers::Asking::begin() {
  const threads::MutexLock lock(all_.mutex_);
  begun_ = all_.asked_.insert(question_).second;
  return begun_;
}

void KnownAnswers::Asking::record(Answer answer, Time until) {
  all_.record(question_, std::move(answer), until);
}

}  // namespace proxy::upstream

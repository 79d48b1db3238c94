#include "proxy/upstream/name_health.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "config/text.hpp"

namespace proxy::upstream {
namespace {

// An approximation: "a.co.uk" and "b.co.uk" count as one domain, which only delays the verdict.
std::string_view domain_of(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  const auto last = name.rfind('.');
  if (last == name.npos || last == 0) return name;
  return name.substr(name.rfind('.', last - 1) + 1);
}

}  // namespace

void NameHealth::set_servers(const std::vector<std::string>& servers, std::string source) {
  const threads::MutexLock lock(mutex_);
  servers_ = {fmt::format("{}", fmt::join(servers, " and ")), servers.size() > 1,
              std::move(source)};
}

// The silence counts from the first question without a reply, however many follow it.
void NameHealth::asked(Time now) {
  const threads::MutexLock lock(mutex_);
  if (!unanswered_) unanswered_ = now;
  last_asked_ = now;
}

void NameHealth::answered(Time now) {
  const threads::MutexLock lock(mutex_);
  replied(now);
  failed_.clear();
  root_fails_ = false;
}

void NameHealth::failed(std::string_view name, Time now) {
  const threads::MutexLock lock(mutex_);
  record_failure(name, now);
}

void NameHealth::record_failure(std::string_view name, Time now) {
  // Failures that lie further apart are no trouble: else the mistyped names of a whole day would
  // add up to one.
  if (now - last_failure_ > kLately) failed_.clear();
  if (failed_.empty()) first_failure_ = now;
  last_failure_ = now;
  const auto domain = domain_of(name);
  const bool is_known = std::find(failed_.begin(), failed_.end(), domain) != failed_.end();
  if (!is_known && failed_.size() < kMostDomains) failed_.emplace_back(domain);
}

void NameHealth::timed_out(std::string_view name, Time asked, Time now) {
  const threads::MutexLock lock(mutex_);
  // Time-outs of questions from a silence come seconds after its end, and would begin a trouble
  // that is over.
  if (asked >= silence_ended_) record_failure(name, now);
}

void NameHealth::probed(Probed how, Time now) {
  const threads::MutexLock lock(mutex_);
  if (how == Probed::silence) return;
  replied(now);
  root_fails_ = how == Probed::failure;
}

// Names that failed because nobody replied say nothing of who replies now.
void NameHealth::replied(Time now) {
  if (is_silent(now) || is_useless(now)) last_trouble_ = now;
  if (is_silent(now)) {
    failed_.clear();
    silence_ended_ = now;
  }
  unanswered_.reset();
}

bool NameHealth::is_useless(Time now) const {
  const auto enough = root_fails_ ? kMostDomainsWithRoot : kMostDomains;
  return failed_.size() >= enough && now - last_failure_ <= kLately;
}

bool NameHealth::fails_lately(Time now) const {
  const threads::MutexLock lock(mutex_);
  return is_silent(now) || is_useless(now) || (last_trouble_ && now - *last_trouble_ <= kAftermath);
}

std::optional<NameHealth::Trouble> NameHealth::found(Time now) const {
  // For one name server, and for several.
  struct Words {
    std::string_view text, advice;
  };
  static constexpr Words kSilent[] = {
      {"does not answer", "look whether it runs, and at the way to it"},
      {"do not answer", "look whether they run, and at the way to them"}};
  static constexpr Words kUseless[] = {
      {"answers, but resolves no names", "look at its log, and at its way to other name servers"},
      {"answer, but resolve no names",
       "look at their logs, and at their way to other name servers"}};
  const bool silent = is_silent(now);
  if (!silent && !is_useless(now)) return std::nullopt;
  const auto& [text, advice] = (silent ? kSilent : kUseless)[servers_.several ? 1 : 0];
  return silent ? Trouble{text_with(text), advice, *unanswered_, last_asked_}
                : Trouble{text_with(text), advice, first_failure_, last_failure_};
}

std::string NameHealth::text_with(std::string_view what) const {
  auto text = fmt::format("name resolution: {} {}", servers_.names, what);
  if (!servers_.source.empty()) text += fmt::format(" ({})", servers_.source);
  return text;
}

std::string NameHealth::text_for_client(Time now) const {
  const threads::MutexLock lock(mutex_);
  const auto trouble = found(now);
  return trouble ? trouble->text : text_with("gave no usable answer");
}

// One line when it begins and one when it ends: a name server that is down fails every request.
void NameHealth::say(Time now) {
  const threads::MutexLock lock(mutex_);
  const auto trouble = found(now);
  if (trouble && !said_) {
    said_ = trouble->since;
    spdlog::warn("{}: {}", trouble->text, trouble->advice);
  } else if (!trouble && said_) {
    const auto took = std::chrono::ceil<std::chrono::seconds>(now - *std::exchange(said_, {}));
    spdlog::info("name resolution: {} {} again, after {}", servers_.names,
                 servers_.several ? "answer" : "answers", config::rough_text(took));
  }
}

}  // namespace proxy::upstream

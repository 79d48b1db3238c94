#include "proxy/observe/events.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "peers/threads/mutex.hpp"

namespace proxy::observe {
namespace {

// Of the loggers. Lines show the first one.
// A logger's name is all that a sink sees of where a line comes from.
constexpr const char* kLogger = "hearsay";
constexpr const char* kAnswerLogger = "hearsay: answers";

// A write may fail when the reader of the log has ended: the events are lost then.
void write_line(std::string_view line) {
  while (!line.empty()) {
    const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string_view word(spdlog::level::level_enum level) {
  const auto view = spdlog::level::to_string_view(level);
  return {view.data(), view.size()};
}

class EventSink final : public spdlog::sinks::sink {
 public:
  std::atomic<bool> is_journal = false;
  std::atomic<config::EventFormat> format = config::EventFormat::text;

  void log(const spdlog::details::log_msg& message) override {
    const threads::MutexLock lock(mutex_);
    const std::string_view text(message.payload.data(), message.payload.size());
    // The operator waits for these lines, so that they pass no limit. They show the usual name.
    if (message.logger_name == kAnswerLogger) {
      auto plain = message;
      plain.logger_name = kLogger;
      return write(plain, text, 0);
    }
    // Two limits: a flood of news must not hide the first warnings.
    auto& limit = message.level >= spdlog::level::warn ? alarms_ : news_;
    if (limit.passes(text, now_)) write(message, text, 0);
  }
  void flush() override {}
  void flush(EventLimit::Clock::time_point now) {
    const threads::MutexLock lock(mutex_);
    now_ = now;
    say_all(alarms_.ended(now), spdlog::level::warn);
    say_all(news_.ended(now), spdlog::level::info);
  }
  void set_pattern(const std::string& pattern) override {
    set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern));
  }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    const threads::MutexLock lock(mutex_);
    formatter_ = std::move(formatter);
  }

 private:
  void say_all(const std::vector<EventLimit::HeldBack>& all, spdlog::level::level_enum level)
      REQUIRES(mutex_) {
    for (const auto& held_back : all) {
      const auto text = fmt::format("{} more like this: {}", held_back.number, held_back.last);
      // Past the limit, to which each of these lines would be a new event.
      const spdlog::details::log_msg message(kLogger, level, text);
      write(message, text, held_back.number);
    }
  }

  void write(const spdlog::details::log_msg& message, std::string_view text,
             std::uint64_t suppressed) REQUIRES(mutex_) {
    const auto begin = is_journal ? priority(message.level) : std::string_view();
    if (format == config::EventFormat::json) {
      nlohmann::ordered_json line{
          {"time", timestamp(message.time)}, {"level", word(message.level)}, {"text", text}};
      if (suppressed > 0) line["suppressed"] = suppressed;
      return write_line(std::string(begin) +
                        line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + '\n');
    }
    if (is_journal) return write_line(fmt::format("{}{}\n", begin, text));
    // The journal shows time and level itself, so that only other readers get them.
    spdlog::memory_buf_t formatted;
    formatter_->format(message, formatted);
    write_line({formatted.data(), formatted.size()});
  }

  threads::Mutex mutex_;
  EventLimit alarms_ GUARDED_BY(mutex_);
  EventLimit news_ GUARDED_BY(mutex_);
  // As of the last flush(). An event cannot be given a time, and this sink has no clock.
  EventLimit::Clock::time_point now_ GUARDED_BY(mutex_);
  std::unique_ptr<spdlog::formatter> formatter_ GUARDED_BY(mutex_) =
      std::make_unique<spdlog::pattern_formatter>();
};

std::shared_ptr<EventSink> the_sink() {
  static const auto sink = std::make_shared<EventSink>();
  return sink;
}

}  // namespace

std::string timestamp(std::chrono::system_clock::time_point time) {
  // fmt would write seconds with a fraction of the clock's own precision.
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto part = std::chrono::duration_cast<std::chrono::milliseconds>(time - whole);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(whole)), part.count());
}

spdlog::logger& answers() {
  static spdlog::logger logger(kAnswerLogger, the_sink());
  return logger;
}

std::string kind_of_event(std::string_view text) {
  // Addresses, ports, paths, URLs, counts and times have one of these. Names of peers may have
  // none: then each peer has a kind of its own.
  constexpr std::string_view kParticular = "0123456789./:";
  std::string kind;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    if (word.find_first_of(kParticular) == std::string_view::npos) (kind += word) += ' ';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return kind;
}

bool EventLimit::passes(std::string_view text, Clock::time_point now) {
  auto name = kind_of_event(text);
  // Texts may hold words that others choose, so the kinds are bounded.
  if (minutes_.size() >= kKinds && !minutes_.contains(name)) name.clear();
  // A minute begins with its first event, so that a rare event never waits.
  auto& minute = minutes_.try_emplace(std::move(name), Minute{now}).first->second;
  if (minute.passed < kMost) {
    ++minute.passed;
    return true;
  }
  ++minute.held_back.number;
  minute.held_back.last = text;
  return false;
}

std::vector<EventLimit::HeldBack> EventLimit::ended(Clock::time_point now) {
  std::vector<HeldBack> all;
  std::erase_if(minutes_, [&](const auto& one) {
    if (now - one.second.begun < kPeriod) return false;
    if (one.second.held_back.number > 0) all.push_back(one.second.held_back);
    return true;
  });
  return all;
}

std::string_view priority(spdlog::level::level_enum level) {
  // sd-daemon(3). Lines without a priority count as 6, which is right for news.
  if (level >= spdlog::level::err) return "<3>";
  return level == spdlog::level::warn ? "<4>" : "";
}

bool is_journal(const char* journal_stream, std::uint64_t device, std::uint64_t inode) {
  // systemd.exec(5): the variable holds DEVICE:INODE. It is inherited, so that it may be of another
  // file than ours.
  return journal_stream && journal_stream == fmt::format("{}:{}", device, inode);
}

bool events_reach_journal() {
  return the_sink()->is_journal;
}

void write_events() {
  struct stat status {};
  const bool is_known = ::fstat(STDERR_FILENO, &status) == 0;
  the_sink()->is_journal =
      is_known && is_journal(std::getenv("JOURNAL_STREAM"), status.st_dev, status.st_ino);
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(kLogger, the_sink()));
}

void format_events(config::EventFormat format) {
  the_sink()->format = format;
}

void flush_events(EventLimit::Clock::time_point now) {
  the_sink()->flush(now);
}

}  // namespace proxy::observe

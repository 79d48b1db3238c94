// The program's own log on stderr: one line per event, as text or as JSON, not too often.
#pragma once

#include <spdlog/logger.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/settings.hpp"

namespace proxy::observe {

// What an event is about, without what differs from one event to the next: the words of its text
// that have no digit, dot, slash or colon. Pure.
std::string kind_of_event(std::string_view text);

// Lets kMost events of a kind pass in each minute, and counts the others. A value, for one thread
// at a time. Bounded: the kinds beyond kKinds share one count.
class EventLimit {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned kMost = 10;
  static constexpr std::size_t kKinds = 256;
  static constexpr std::chrono::minutes kPeriod{1};

  // Counts an event, and returns whether it passes.
  bool passes(std::string_view text, Clock::time_point now);
  // Events that were held back in a minute that has ended: how many, and the text of the last one.
  struct HeldBack {
    std::uint64_t number;
    std::string last;
  };
  // Forgets the minutes that have ended.
  std::vector<HeldBack> ended(Clock::time_point now);

 private:
  struct Minute {
    Clock::time_point begun;
    unsigned passed = 0;
    HeldBack held_back{};
  };
  std::unordered_map<std::string, Minute> minutes_;
};

// From now on spdlog's default logger writes to stderr: lines for people, unless format_events()
// asks for an object per line, with `time` (RFC 3339), `level`, `text` and, for events that were
// held back, `suppressed`. If stderr is the journal of systemd (JOURNAL_STREAM), warnings and
// errors begin with their priority (sd-daemon(3)), which the journal takes off, and the lines for
// people have no time, which the journal shows. Alarms (warnings and errors) pass an EventLimit,
// and news another one. For the start of the program.
void write_events();
// The logger for lines that answer an order of the operator, such as a reload: no limit applies to
// them. Any thread may use it.
spdlog::logger& answers();
// The format of later events. Without write_events(), changes nothing. Any thread.
void format_events(config::EventFormat format);

// Whether write_events() has found that stderr is the journal.
bool events_reach_journal();
// Whether JOURNAL_STREAM names the file with these numbers. Pure.
bool is_journal(const char* journal_stream, std::uint64_t device, std::uint64_t inode);
// The time by RFC 3339, to the millisecond. Pure.
std::string timestamp(std::chrono::system_clock::time_point time);
// The text with which the line of such an event begins. Pure.
std::string_view priority(spdlog::level::level_enum level);

// Says how many events were held back in minutes that have ended. Call it about each second: the
// minutes of events are counted by these times. Any thread.
void flush_events(EventLimit::Clock::time_point now);

}  // namespace proxy::observe

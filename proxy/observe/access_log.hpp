// One line per request, in Squid's native format or as JSON, written away from the I/O threads.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "config/settings.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/machine/descriptor.hpp"
#include "proxy/machine/folders.hpp"
#include "proxy/observe/fault.hpp"
#include "proxy/observe/request_record.hpp"

namespace proxy::observe {

struct LogEntry {
  std::chrono::system_clock::time_point ended;
  std::chrono::milliseconds took;
  std::string_view client;
  std::string_view method;
  std::string_view url;
  const RequestRecord& record;
};

// `epoch.ms elapsed client TAG/status bytes method URL user HIERARCHY/host type`. If the proxy
// ended the connection to make room, TAG ends in the reason: TCP_MISS_ABORTED_STALLED. Words that
// Squid has not follow the type, where there is such a reason: `not-stored/no-store`,
// `failure/refused`. A neighbour's question without an answer looks like one of ICP, since programs
// tell those from clients' requests: `UDP_SITE_QUESTION/000 bytes ICP_QUERY`, or `UDP_DENIED/000`.
// A request cannot forge a line: its control characters, spaces and quotes are
// escaped.
void append_squid_line(std::string& out, const LogEntry& entry);
// Appends the same facts as a JSON object. A neighbour's question has its real method and status
// here. The member `asked` lists the sources that were asked, in the order in which their questions
// ended, each with its answer and the time to the answer's first byte. `user` is who asked, and
// `denied_by` the access rule that denied the request.
void append_json_line(std::string& out, const LogEntry& entry);

// Advice for a log that could not be opened; an empty text: there is none.
machine::WriteAdvice log_advice(std::error_code error, const std::string& path);

class AccessLog {
 public:
  // Lines of one thread that wait to be written. Only that thread calls add().
  class Lines {
   public:
    void add(const LogEntry& entry);

   private:
    friend class AccessLog;
    threads::Mutex mutex_;
    std::string text_ GUARDED_BY(mutex_);
    config::LogFormat format_ GUARDED_BY(mutex_) = config::LogFormat::squid;
    std::atomic<bool> on_ = false;
    std::size_t most_ GUARDED_BY(mutex_) = kMostWaiting;
    std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;
  };

  // Where lines are written to, as settings say.
  class Output {
   public:
    // Throws std::system_error if the file cannot be opened for appending.
    explicit Output(const config::LogSettings& settings);
    // A file that nobody has opened yet.
    static Output unopened(const config::LogSettings& settings) {
      return {settings, machine::Descriptor()};
    }

    [[nodiscard]] const config::LogSettings& settings() const { return settings_; }
    [[nodiscard]] bool is_on() const { return settings_.access != config::LogTarget::none; }
    [[nodiscard]] bool is_file() const { return settings_.access == config::LogTarget::file; }
    // Whether this is a file, and not open.
    [[nodiscard]] bool is_missing() const { return is_file() && !file_; }
    // Whether the open file has no name any more, so that nobody can read it.
    [[nodiscard]] bool is_deleted() const;
    // Returns nothing, or the error for which the rest of the text is lost. The next text begins on
    // a line of its own.
    [[nodiscard]] std::error_code write(std::string_view& text);
    // Call this before this output takes the place of `before`, perhaps of the same file: the first
    // line then begins on a line of its own, too.
    void follow(const Output& before);

   private:
    Output(const config::LogSettings& settings, machine::Descriptor file)
        : settings_(settings), file_(std::move(file)) {}

    config::LogSettings settings_;
    machine::Descriptor file_;  // none: unopened, or the standard output
    bool is_torn_ = false;      // the file ends within a line
  };

  // Begins without the file if it cannot be opened: see fault(). The clock outlives the log.
  AccessLog(const config::LogSettings& settings, std::size_t threads, machine::Clock& clock);
  ~AccessLog() { end(); }
  // Ends the writing thread and writes the waiting lines. The destructor does the same.
  void end();

  // Whether the settings ask for an access log.
  [[nodiscard]] bool on() const { return on_.load(std::memory_order_relaxed); }
  Lines& of_thread(std::size_t number) { return lines_[number]; }
  // Any thread: opens the path anew before the next write, as after a rotation. If the path cannot
  // be opened, lines go to the old file, and the path is tried again each second.
  void reopen();
  // Why lines do not reach the file that the settings name, and what to do, for a person; nothing:
  // they do. The events tell when that begins and when it ends. Without an open file, or if
  // somebody deletes it, lines wait, up to 1 MiB for each thread, and the path is tried again each
  // second, and at the end. Any thread.
  [[nodiscard]] std::optional<Fault::Told> fault() const { return fault_.told(); }
  // Lines of requests that end later go to this output, in its format; those that wait still go to
  // the one before. Soon, and for one thread.
  void follow(Output next);
  [[nodiscard]] std::uint64_t dropped();

 private:
  static constexpr std::chrono::milliseconds kPeriod{500};
  static constexpr std::chrono::seconds kBetweenTries{1};
  // Bytes of each thread; lines beyond are dropped.
  static constexpr std::size_t kMostWaiting = 8 << 20;
  static constexpr std::size_t kMostWithoutFile = 1 << 20;

  // A fault of the output.
  struct Trouble {
    std::string unopened = {};  // why the path could not be opened, and what to do; empty: it could
    const char* until = "";
    std::error_code unwritten = {};         // why the latest lines are lost
    machine::Clock::SteadyTime tried = {};  // when the path was tried last
  };
  // The things that the writing thread is to do at once.
  struct Orders {
    std::optional<Output> next;
    bool reopen = false;
  };

  void start_if_on();
  void open();
  void open_if_needed(const Orders& orders);
  void update_fault();
  void run(std::stop_token stop);
  void flush();
  void write_lines(Output* next);

  machine::Clock& clock_;
  std::deque<Lines> lines_;
  std::atomic<bool> on_ = false;
  // Used by the writing thread alone.
  Output output_;
  Trouble trouble_;

  std::atomic<std::uint64_t> lost_ = 0;  // lines that could not be written
  threads::Mutex mutex_;
  Orders orders_ GUARDED_BY(mutex_);
  threads::StoppableCondition wake_;
  Fault fault_;
  std::atomic<bool> ends_ = false;  // two threads may call end(): Engine::rescue() is the second
  std::jthread thread_;
};

}  // namespace proxy::observe

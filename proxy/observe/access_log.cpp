#include "proxy/observe/access_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "config/counted.hpp"
#include "proxy/http/text.hpp"

namespace proxy::observe {
namespace {

// Programs that read Squid's log know a neighbour's question by this method, and leave it out of
// what clients got.
constexpr std::string_view kQuestion = "ICP_QUERY";

// Appends one word. Bytes that could break the line, or a terminal that shows it, are
// percent-encoded.
void append_word(std::string& out, std::string_view text) {
  if (text.empty()) out += '-';
  for (const char c : text) {
    if (c > 0x20 && c < 0x7f && c != '"') {
      out += c;
    } else {
      http::append_percent_encoded(out, c);
    }
  }
}

// In the order in which Squid joins the parts, since programs that read its log take them apart:
// TCP_CF_MISS_ABORTED.
std::string tag_of(const RequestRecord& record) {
  std::string tag(squid_tag(record.tag));
  if (record.question && tag.starts_with("TCP_")) tag.replace(0, 3, "UDP");
  if (record.collapsed && tag.starts_with("TCP_")) tag.insert(4, "CF_");
  if (record.aborted) tag += "_ABORTED";
  if (record.cut == Cut::none) return tag;
  tag += '_';
  for (const char c : word(record.cut)) tag += static_cast<char>(c - 'a' + 'A');
  return tag;
}

std::int64_t milliseconds_of(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

nlohmann::ordered_json json_of(const std::vector<Inquiry>& asked) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& inquiry : asked) {
    const auto waited = std::chrono::duration<double, std::milli>(inquiry.waited);
    nlohmann::ordered_json one{{"source", inquiry.source}, {"result", inquiry.result}};
    if (!inquiry.cause.empty()) one["cause"] = inquiry.cause;
    one["first_byte_ms"] = waited.count();
    all.push_back(std::move(one));
  }
  return all;
}

// What could not be written stays in `text`, for the caller to count its lines.
std::error_code write_all(int fd, std::string_view& text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return {errno, std::generic_category()};
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

}  // namespace

void append_squid_line(std::string& out, const LogEntry& entry) {
  const auto ended = milliseconds_of(entry.ended);
  const auto& record = entry.record;
  fmt::format_to(std::back_inserter(out), "{}.{:03} {:6} {} {}/{:03} {} ", ended / 1000,
                 ended % 1000, entry.took.count(), entry.client, tag_of(record),
                 record.question ? 0 : record.status, record.bytes);
  append_word(out, record.question ? kQuestion : entry.method);
  out += ' ';
  append_word(out, entry.url);
  out += ' ';
  append_word(out, record.user);
  out += ' ';
  out += squid_code(record.hierarchy);
  out += '/';
  append_word(out, record.upstream_host);
  out += ' ';
  append_word(out, record.content_type);
  if (record.storability != cache::Storability::yes) {
    (out += " not-stored/") += text(record.storability);
  }
  if (!record.failure.empty()) (out += " failure/") += record.failure;
  if (!record.exceeded.empty()) (out += " exceeds/") += record.exceeded;
  out += '\n';
}

void append_json_line(std::string& out, const LogEntry& entry) {
  const auto& record = entry.record;
  nlohmann::ordered_json line{{"time", static_cast<double>(milliseconds_of(entry.ended)) / 1000},
                              {"elapsed_ms", entry.took.count()},
                              {"client", entry.client},
                              {"result", tag_of(record)},
                              {"status", record.status},
                              {"bytes", record.bytes},
                              {"method", entry.method},
                              {"url", entry.url},
                              {"hierarchy", squid_code(record.hierarchy)},
                              {"upstream", record.upstream_host},
                              {"type", record.content_type}};
  if (!record.user.empty()) line["user"] = record.user;
  if (!record.denied_by.empty()) line["denied_by"] = record.denied_by;
  if (!record.failure.empty()) line["failure"] = record.failure;
  if (!record.exceeded.empty()) line["exceeds"] = record.exceeded;
  if (record.storability != cache::Storability::yes) line["not_stored"] = text(record.storability);
  if (!record.asked.empty()) line["asked"] = json_of(record.asked);
  // URLs and fields may hold bytes that are no UTF-8, and must not make dump() throw.
  out += line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  out += '\n';
}

void AccessLog::Lines::add(const LogEntry& entry) {
  // Without the lock, as every request asks. A request that ends while a reload turns the log on
  // may be left out.
  if (!on_.load(std::memory_order_relaxed)) return;
  const threads::MutexLock lock(mutex_);
  // Lines are dropped rather than let the requests wait for a disk that is slow or full.
  if (text_.size() > most_) {
    ++dropped_;
    return;
  }
  if (format_ == config::LogFormat::json) {
    append_json_line(text_, entry);
  } else {
    append_squid_line(text_, entry);
  }
}

machine::WriteAdvice log_advice(std::error_code error, const std::string& path) {
  // Only these depend on the folder, and may be caused by the sandbox. Others tell enough by their
  // own text.
  if (error != std::errc::no_such_file_or_directory && error != std::errc::permission_denied &&
      error != std::errc::read_only_file_system) {
    return {};
  }
  std::error_code ignored;
  const auto file = std::filesystem::absolute(path, ignored);
  return machine::write_advice(file.parent_path(), file);
}

AccessLog::Output::Output(const config::LogSettings& settings) : settings_(settings) {
  if (!is_file()) return;
  // O_APPEND: a successor, or another proxy, may write to the same file at the same time.
  file_ = machine::Descriptor(
      ::open(settings.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640));
  if (file_) return;
  throw std::system_error(errno, std::generic_category(),
                          "log.access: cannot open " + settings.path + " for appending");
}

bool AccessLog::Output::is_deleted() const {
  struct stat status {};
  // A pipe has no name at any time, so only a regular file counts as deleted.
  return is_file() && ::fstat(file_.number(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_nlink == 0;
}

std::error_code AccessLog::Output::write(std::string_view& text) {
  const bool is_standard = settings_.access == config::LogTarget::standard_output;
  const int to = is_standard ? STDOUT_FILENO : file_.number();
  // A line that was cut by a full disk must not run into the next one.
  std::string_view end = is_torn_ && !text.empty() ? "\n" : "";
  if (const auto failed = write_all(to, end)) return failed;
  if (!text.empty()) is_torn_ = false;
  const char* const begin = text.data();
  const auto failed = write_all(to, text);
  if (text.data() != begin) is_torn_ = text.data()[-1] != '\n';
  return failed;
}

void AccessLog::Output::follow(const Output& before) {
  struct stat ours {};
  struct stat theirs {};
  const bool is_same = file_ && before.file_ && ::fstat(file_.number(), &ours) == 0 &&
                       ::fstat(before.file_.number(), &theirs) == 0 &&
                       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
  is_torn_ = is_same && before.is_torn_;
}

AccessLog::AccessLog(const config::LogSettings& settings, std::size_t threads,
                     machine::Clock& clock)
    : clock_(clock), lines_(threads), output_(Output::unopened(settings)) {
  for (auto& lines : lines_) {
    const threads::MutexLock lock(lines.mutex_);
    lines.format_ = settings.format;
    lines.on_ = output_.is_on();
  }
  open();
  start_if_on();
}

void AccessLog::start_if_on() {
  on_ = output_.is_on();
  if (on()) thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
}

void AccessLog::end() {
  if (!thread_.joinable() || ends_.exchange(true)) return;
  thread_.request_stop();
  thread_.join();
  trouble_.tried -= kBetweenTries;  // for a last try
  flush();
  std::uint64_t left = 0;
  for (auto& lines : lines_) {
    const threads::MutexLock lock(lines.mutex_);
    left += lines_in(lines.text_);
  }
  lost_ += left;
  if (left == 0) return;
  spdlog::error("log.access: {} was not written to the end: {} lost", output_.settings().path,
                config::counted(left, "line"));
}

void AccessLog::reopen() {
  {
    const threads::MutexLock lock(mutex_);
    orders_.reopen = true;
  }
  wake_.notify_all();
}

void AccessLog::follow(Output next) {
  on_ = next.is_on();
  {
    const threads::MutexLock lock(mutex_);
    orders_.next.emplace(std::move(next));
  }
  // Without the thread nobody else uses the output, so that the order is carried out here.
  if (thread_.joinable()) {
    wake_.notify_all();
  } else {
    flush();
    start_if_on();
  }
}

std::uint64_t AccessLog::dropped() {
  std::uint64_t total = lost_;
  for (auto& lines : lines_) {
    const threads::MutexLock lock(lines.mutex_);
    total += lines.dropped_;
  }
  return total;
}

void AccessLog::run(std::stop_token stop) {
  // While the log is off there is nothing to write: only an order wakes the thread.
  constexpr std::chrono::hours kWhileOff{1};
  while (!stop.stop_requested()) {
    {
      const auto period = on() ? std::chrono::milliseconds(kPeriod) : kWhileOff;
      threads::MutexLock lock(mutex_);
      wake_.wait_for(lock, stop, period,
                     [this]() REQUIRES(mutex_) { return orders_.reopen || orders_.next; });
    }
    flush();
  }
}

void AccessLog::open() {
  trouble_.tried = clock_.steady();
  try {
    // Before the old file is given up: if the path cannot be opened, lines go on to that file.
    Output next(output_.settings());
    // It may be the same file, as a reload mostly finds it.
    next.follow(output_);
    output_ = std::move(next);
    trouble_ = {.tried = trouble_.tried};
  } catch (const std::system_error& error) {
    const auto advice = log_advice(error.code(), output_.settings().path);
    trouble_.unopened = error.what();
    if (!advice.text.empty()) (trouble_.unopened += "; ") += advice.text;
    trouble_.until =
        advice.needs_restart ? "until then" : "meanwhile, and the log is tried again each second";
  }
  update_fault();
}

void AccessLog::update_fault() {
  const auto& [unopened, until, unwritten, tried] = trouble_;
  std::string text;
  if (!unopened.empty()) {
    const auto meanwhile = output_.is_missing() ? "requests are not logged"
                           : unwritten ? fmt::format("lines are lost ({})", unwritten.message())
                                       : "lines go to the old file";
    text = fmt::format("{}; {} {}", unopened, meanwhile, until);
  } else if (unwritten) {
    text = fmt::format("log.access: {} cannot be written: {}; its lines are lost",
                       output_.settings().path, unwritten.message());
  } else {
    if (fault_.mended()) spdlog::info("the access log is in order again");
    return;
  }
  // The path is tried each second, and the log should not say so each second.
  const auto known = fault_.told();
  if (!known || known->text != text) spdlog::error("{}", text);
  fault_.found(std::move(text), clock_.steady());
}

void AccessLog::open_if_needed(const Orders& orders) {
  // A file without a name takes lines that nobody can ever read.
  if (output_.is_deleted()) output_ = Output::unopened(output_.settings());
  const bool is_wanted = !trouble_.unopened.empty() || output_.is_missing();
  const bool is_time = clock_.steady() - trouble_.tried >= kBetweenTries;
  if (orders.reopen || (is_wanted && is_time)) open();
}

// Lines that no file has taken yet go to the next output.
void AccessLog::write_lines(Output* next) {
  Output& to = next && output_.is_missing() ? *next : output_;
  std::error_code error;
  std::string text;
  bool has_written = false;
  for (auto& lines : lines_) {
    {
      const threads::MutexLock lock(lines.mutex_);
      lines.most_ = to.is_missing() ? kMostWithoutFile : kMostWaiting;
      // Taken out under the lock and written without it, so that no request waits for the write.
      if (!to.is_missing()) text.swap(lines.text_);
      if (next) lines.format_ = next->settings().format;
      if (next) lines.on_ = next->is_on();
    }
    std::string_view rest = text;
    has_written = has_written || !rest.empty();
    if (const auto failed = to.write(rest)) error = failed;
    lost_ += lines_in(rest);
    text.clear();
  }
  // Without lines nothing is known of the file: an earlier error stays.
  if (!has_written || !to.is_file()) return;
  trouble_.unwritten = error;
  update_fault();
}

void AccessLog::flush() {
  Orders orders;
  {
    const threads::MutexLock lock(mutex_);
    std::swap(orders, orders_);
  }
  open_if_needed(orders);
  auto& next = orders.next;
  const bool is_missing = output_.is_missing();
  if (next) next->follow(output_);
  write_lines(next ? &*next : nullptr);
  if (!next) return;
  if (!is_missing) next->follow(output_);
  output_ = std::move(*next);
  // The next output is open, or there is none to open: no path is waited for any more.
  trouble_.unopened.clear();
  if (!is_missing) trouble_.unwritten = {};  // else it tells of the next output
  update_fault();
}

}  // namespace proxy::observe

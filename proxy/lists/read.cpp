#include "proxy/lists/read.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "config/text.hpp"
#include "proxy/lists/entry.hpp"
#include "proxy/machine/descriptor.hpp"

namespace proxy::lists {
namespace {

constexpr std::size_t kBlock = 1 << 20;
constexpr std::size_t kLongestLine = 2 * http::kMaxUrl;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

class File {
 public:
  // O_NONBLOCK: opening a pipe of that name must not block.
  explicit File(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}

  // Why this is not an open regular file; empty if it is one.
  [[nodiscard]] std::string why_not() const {
    struct stat status {};
    if (!descriptor_ || ::fstat(descriptor_.number(), &status) != 0) return reason();
    return S_ISREG(status.st_mode) ? "" : "it is not a regular file";
  }

  // Appends the next block, nothing at the end. Returns false if reading failed.
  [[nodiscard]] bool append_to(std::string& text) const {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    ssize_t count = 0;
    do {
      count = ::read(descriptor_.number(), text.data() + before, kBlock);
    } while (count < 0 && errno == EINTR);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return count >= 0;
  }

  [[nodiscard]] static std::string reason() { return std::generic_category().message(errno); }

 private:
  machine::Descriptor descriptor_;
};

// Splits a file into lines and adds them to a list, with one block in memory at a time.
class Reading {
 public:
  Reading(const std::string& path, ListBuilder& into) : into_(into) { skipped_.path = path; }

  // Returns why the file could not be read; empty if it was.
  std::string run() {
    const File file(skipped_.path);
    if (std::string why = file.why_not(); !why.empty()) return "cannot be read: " + why;
    std::string text;
    for (;;) {
      const std::size_t held = text.size();
      if (!file.append_to(text)) return "cannot be read: " + File::reason();
      const bool ended = text.size() == held;
      if (lines_ == 0 && text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
      if (ended && !text.empty()) text += '\n';
      text.erase(0, take_lines(text));
      if (full_) return "holds more than a list has room for; shorten it";
      if (ended) return "";
      if (text.size() > kLongestLine) shorten(text);
    }
  }

  [[nodiscard]] const Skipped& skipped() const { return skipped_; }

 private:
  // Reads all complete lines and returns their size.
  std::size_t take_lines(std::string_view text) {
    std::size_t at = 0;
    for (std::size_t end = 0; (end = text.find('\n', at)) != std::string_view::npos; at = end + 1) {
      take(text.substr(at, end - at));
    }
    return at;
  }

  void take(std::string_view line) {
    ++lines_;
    const Line read = line.size() > kLongestLine ? Line::unknown : read_line(line, into_);
    full_ = full_ || read == Line::no_room;
    if (read != Line::unknown) return;
    if (skipped_.lines++ == 0) {
      skipped_.first = lines_;
      skipped_.text = config::in_quotes(line);
    }
  }

  // A line that is too long is skipped anyway, so only the fact that it is too long is kept.
  static void shorten(std::string& line) { line.resize(kLongestLine + 1); }

  ListBuilder& into_;
  Skipped skipped_;
  std::uint64_t lines_ = 0;
  bool full_ = false;
};

List read_all(const std::vector<std::string>& paths, std::string_view setting,
              config::SettingsErrors& errors, const std::function<void(const Skipped&)>& tell) {
  ListBuilder builder;
  for (const std::string& path : paths) {
    Reading reading(path, builder);
    if (std::string why = reading.run(); !why.empty()) {
      errors.push_back({path + " (setting " + std::string(setting) + ")", std::move(why)});
    }
    if (reading.skipped().lines > 0) tell(reading.skipped());
  }
  return std::move(builder).finish();
}

}  // namespace

boost::system::result<AccessLists, config::SettingsErrors> read_lists(
    const config::AccessSettings& access, const std::function<void(const Skipped&)>& tell) {
  config::SettingsErrors errors;
  List block = read_all(access.block, "access.block", errors, tell);
  List allow = read_all(access.allow, "access.allow", errors, tell);
  if (!errors.empty()) return errors;
  return AccessLists(std::move(block), std::move(allow));
}

}  // namespace proxy::lists

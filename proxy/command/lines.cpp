#include "proxy/command/lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace proxy::command {

Result<InputFile> InputFile::open(const std::string& name, const Streams& streams,
                                  Opening opening) {
  if (name == "-") return InputFile(machine::Descriptor(), streams.in, "standard input");
  // Without O_NONBLOCK, open() of a named pipe waits until somebody writes to it (fifo(7)).
  const int nonblocking = opening == Opening::at_once ? O_NONBLOCK : 0;
  machine::Descriptor opened(::open(name.c_str(), O_RDONLY | O_CLOEXEC | nonblocking));
  if (!opened) return system_trouble(name, errno);
  const int descriptor = opened.number();
  // The kernel then reads further ahead. Where it does not, only speed is lost.
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  return InputFile(std::move(opened), descriptor, name);
}

InputFile::InputFile(machine::Descriptor ours, int descriptor, std::string name)
    : ours_(std::move(ours)), descriptor_(descriptor), name_(std::move(name)) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  // Standard input may be a file, but the shell may have read a part of it.
  rereadable_ = static_cast<bool>(ours_);
  size_ = static_cast<std::uint64_t>(status.st_size);
}

Result<std::size_t> InputFile::read(char* into, std::size_t most) const {
  while (true) {
    const ssize_t count = ::read(descriptor_, into, most);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return system_trouble(name_, errno);
  }
}

Result<void> InputFile::rewind() {
  if (::lseek(descriptor_, 0, SEEK_SET) < 0) return system_trouble(name_, errno);
  return {};
}

Result<std::vector<InputFile>> open_all(const std::vector<std::string>& names,
                                        const Streams& streams, Opening opening) {
  std::vector<InputFile> inputs;
  for (const auto& name : names.empty() ? std::vector<std::string>{"-"} : names) {
    auto input = InputFile::open(name, streams, opening);
    if (!input) return input.error();
    inputs.push_back(std::move(*input));
  }
  return inputs;
}

Lines::Lines(const InputFile& input, Progress& progress, Output* out, const Interrupt* interrupt)
    : input_(input),
      progress_(progress),
      out_(out),
      interrupt_(interrupt),
      buffer_(new char[kBuffer]) {}

std::optional<std::string_view> Lines::next() {
  std::size_t searched = 0;
  while (true) {
    const char* const start = buffer_.get() + begin_;
    const std::size_t held = end_ - begin_;
    if (const void* const feed = std::memchr(start + searched, '\n', held - searched)) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(feed) - start);
      return take(length, length + 1);
    }
    // A long line that arrives in many pieces must not be searched from its start each time.
    searched = held;
    // A line of kMaxLine bytes may be followed by a CR.
    if (held > kMaxLine + 1 || fill() == Filled::ended) break;
  }
  const std::size_t rest = end_ - begin_;
  // An interrupt may cut a line. Its beginning alone is not a line, and is left out.
  return rest == 0 || trouble_ || interrupted_ ? std::nullopt : take(rest, rest);
}

std::optional<std::string_view> Lines::take(std::size_t length, std::size_t consumed) {
  std::string_view line(buffer_.get() + begin_, length);
  begin_ += consumed;
  ++number_;
  // Files that were made on Windows end their lines by CRLF.
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() <= kMaxLine) return line;
  trouble_ = at_line("longer than 64 KiB; is this a file of lines?");
  return std::nullopt;
}

// `ended`: at the end of the input, on trouble, and after an interrupt.
Lines::Filled Lines::fill() {
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  // Before the read, which may wait for ever: the next program of the pipe needs these lines.
  if (out_ != nullptr) out_->flush();
  interrupted_ = interrupt_ != nullptr &&
                 interrupt_->await_readable(input_.descriptor()) == Readiness::interrupted;
  if (interrupted_) return Filled::ended;
  const auto count = input_.read(buffer_.get() + end_, kBuffer - end_);
  if (!count) trouble_ = count.error();
  if (!count || *count == 0) return Filled::ended;
  end_ += *count;
  read_ += *count;
  progress_.update(read_, number_);
  return Filled::more;
}

Trouble Lines::at_line(std::string_view what) const {
  return {fmt::format("{}: line {}: {}", input_.name(), number_, what)};
}

Result<std::uint64_t> count_lines(InputFile& input, Progress& progress) {
  constexpr std::size_t kAtOnce = std::size_t{256} << 10;
  const std::unique_ptr<char[]> buffer(new char[kAtOnce]);
  if (auto start = input.rewind(); !start) return start.error();
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  // As after a line that ended: an empty file has no line.
  char last = '\n';
  while (true) {
    const auto count = input.read(buffer.get(), kAtOnce);
    if (!count) return count.error();
    if (*count == 0) break;
    lines += static_cast<std::uint64_t>(std::count(buffer.get(), buffer.get() + *count, '\n'));
    bytes += *count;
    last = buffer[*count - 1];
    progress.update(bytes, lines);
  }
  if (auto start = input.rewind(); !start) return start.error();
  // The last line may end without a feed.
  return lines + (last == '\n' ? 0 : 1);
}

}  // namespace proxy::command

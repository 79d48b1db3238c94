// Reads files and pipes line by line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/command/interrupt.hpp"
#include "proxy/command/streams.hpp"
#include "proxy/machine/descriptor.hpp"

namespace proxy::command {

// The longest line, in bytes. A longer one is an error: no URL is as long, and memory must be
// bounded.
inline constexpr std::size_t kMaxLine = std::size_t{64} << 10;

// How to open a named pipe that has no writer yet: wait for a writer, or open it at once. A caller
// that needs an ordinary file uses `at_once`, and then finds that the pipe is no such file.
enum class Opening : std::uint8_t { waits, at_once };

// An open file, closed by the destructor, or standard input ("-"), which stays open.
class InputFile {
 public:
  static Result<InputFile> open(const std::string& name, const Streams& streams,
                                Opening opening = Opening::waits);

  int descriptor() const { return descriptor_; }
  const std::string& name() const { return name_; }  // "standard input" for "-"
  // Whether it is an ordinary file, which can be read more than once.
  bool rereadable() const { return rereadable_; }
  // The size in bytes; 0 if it is no ordinary file.
  std::uint64_t size() const { return size_; }
  // Reads up to `most` bytes; waits for at least one. Returns 0 at the end.
  Result<std::size_t> read(char* into, std::size_t most) const;
  // Returns to the start. Only for a rereadable input.
  Result<void> rewind();

 private:
  InputFile(machine::Descriptor ours, int descriptor, std::string name);

  machine::Descriptor ours_;  // none: it stays open
  int descriptor_;
  bool rereadable_ = false;
  std::uint64_t size_ = 0;
  std::string name_;
};

// Opens all files in this order, or standard input if there are no names.
Result<std::vector<InputFile>> open_all(const std::vector<std::string>& names,
                                        const Streams& streams, Opening opening = Opening::waits);

// Reads the lines of an input, from its current position. A line ends with LF or CRLF, which is not
// part of the line; the last line may end without. Lines may contain any other bytes.
class Lines {
 public:
  // All arguments must outlive this object. `out`, if given, is flushed before each read, since the
  // read may wait. After an interrupt, next() returns the complete lines read so far and no more.
  Lines(const InputFile& input, Progress& progress, Output* out = nullptr,
        const Interrupt* interrupt = nullptr);

  // Returns the next line, which is valid until the next call; nothing at the end and on trouble.
  std::optional<std::string_view> next();

  const std::optional<Trouble>& trouble() const { return trouble_; }
  // The number of the line that next() returned last; the first line has number 1.
  std::uint64_t number() const { return number_; }
  // Trouble that names the input and the line that next() returned last.
  Trouble at_line(std::string_view what) const;

 private:
  static constexpr std::size_t kBuffer = std::size_t{256} << 10;

  enum class Filled : std::uint8_t { more, ended };
  Filled fill();
  std::optional<std::string_view> take(std::size_t length, std::size_t consumed);

  const InputFile& input_;
  Progress& progress_;
  Output* const out_;
  const Interrupt* const interrupt_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;  // of the bytes in buffer_ that next() has not returned yet
  std::size_t end_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t number_ = 0;
  bool interrupted_ = false;
  std::optional<Trouble> trouble_;
};

// Counts the lines of a rereadable input, which it rewinds before and after.
Result<std::uint64_t> count_lines(InputFile& input, Progress& progress);

}  // namespace proxy::command

// Files and pipes, line by line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/command/interrupt.hpp"
#include "proxy/command/progress.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

// A longer one is an error: no URL has so many bytes, and memory has to end somewhere.
inline constexpr std::size_t kMaxLine = std::size_t{64} << 10;

// What to do with a pipe that has a name but no writer yet: wait for one, or open it at once, as
// who wants an ordinary file does to find that it is none.
enum class Opening : std::uint8_t { waits, at_once };

// An open file, or the descriptor for "-", which stays open.
class Input {
 public:
  static Result<Input> open(const std::string& name, const Streams& streams,
                            Opening opening = Opening::waits);
  Input(Input&& other) noexcept;
  Input& operator=(Input&&) = delete;
  ~Input();

  int descriptor() const { return descriptor_; }
  const std::string& name() const { return name_; }  // "standard input" for "-"
  // A regular file, which can be read more than once; and how long it is.
  bool rereadable() const { return rereadable_; }
  std::uint64_t size() const { return size_; }
  // At least one byte, but 0 at the end.
  Result<std::size_t> read(char* into, std::size_t most) const;
  // Back to the start of a rereadable one.
  Result<void> rewind();

 private:
  Input(int descriptor, bool ours, std::string name);

  int descriptor_;
  bool ours_;
  bool rereadable_ = false;
  std::uint64_t size_ = 0;
  std::string name_;
};

// All of them, in this order; standard input if there are none.
Result<std::vector<Input>> open_all(const std::vector<std::string>& names, const Streams& streams,
                                    Opening opening = Opening::waits);

// The lines of an input from where it stands. They end in LF or CRLF, which are not part of them;
// the last may lack it. Any bytes are welcome.
class Lines {
 public:
  // All must outlive this. `out` is flushed before a read may have to wait, so that what was
  // written about the lines so far is seen in time. After an interrupt the lines that were read are
  // given, but no part of one.
  Lines(const Input& input, Progress& progress, Output* out = nullptr,
        const Interrupt* interrupt = nullptr);

  // The next one, good until the next call; nothing at the end, or where there is trouble().
  std::optional<std::string_view> next();

  const std::optional<Trouble>& trouble() const { return trouble_; }
  // Of the last line, from 1.
  std::uint64_t number() const { return number_; }
  // Trouble with the last line.
  Trouble at_line(std::string_view what) const;

 private:
  static constexpr std::size_t kBuffer = std::size_t{256} << 10;

  bool fill();
  std::optional<std::string_view> give(std::size_t length, std::size_t consumed);

  const Input& input_;
  Progress& progress_;
  Output* const out_;
  const Interrupt* const interrupt_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;  // of what was not given out
  std::size_t end_ = 0;
  std::uint64_t read_ = 0;
  std::uint64_t number_ = 0;
  bool interrupted_ = false;
  std::optional<Trouble> trouble_;
};

// How many lines the whole of a rereadable input has; rewinds it before and after.
Result<std::uint64_t> count_lines(Input& input, Progress& progress);

}  // namespace proxy::command

// The chunked transfer coding (RFC 9112 7.1), read incrementally and without copying the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace proxy::http {

// Decodes input and returns slices of the same memory. Extensions and trailers are bounded, checked
// and dropped. Only CRLF ends a line; a size has at most 15 hex digits with no white space after
// it. After an error or the end it consumes nothing more.
class ChunkedDecoder {
 public:
  static constexpr std::size_t kMaxExtensions = 4096;  // bytes after one chunk's size
  // The most bytes that all extensions together may have beyond the number of body bytes, so that a
  // sender cannot keep us busy for ever with a few bytes at a time.
  static constexpr std::size_t kMoreExtensions = 65536;
  static constexpr std::size_t kMaxTrailers = 16384;  // bytes of the trailer section

  enum class State : std::uint8_t { reading, done, failed };
  struct Step {
    std::size_t consumed = 0;  // bytes of the input that have been processed
    std::string_view body;     // a part of the input; may be empty
    State state = State::reading;
  };

  // Decodes the front of `input` up to the end of one slice of body. While the state is `reading`,
  // something was consumed and input is left, call it again with the rest; otherwise read more
  // first.
  Step feed(std::string_view input);

  bool done() const { return phase_ == Phase::done; }
  bool failed() const { return phase_ == Phase::failed; }

 private:
  enum class Phase : std::uint8_t {
    size,
    blank,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer_start,
    trailer_name,
    trailer_value,
    trailer_lf,
    end_lf,
    done,
    failed
  };
  Phase next(char c);
  Phase size_byte(char c);
  Phase size_end(char c);

  std::uint64_t left_ = 0;      // of the chunk's size or data
  std::size_t digits_ = 0;      // hex digits of the size so far
  std::size_t skipped_ = 0;     // bytes of the chunk's extensions, then of trailers
  std::uint64_t extended_ = 0;  // bytes of all extensions, minus those of body, at least 0
  Phase phase_ = Phase::size;
};

// "1f4\r\n": precedes a chunk of `size` bytes (not 0). A CRLF must follow the chunk's bytes.
void append_chunk_size(std::string& out, std::size_t size);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace proxy::http

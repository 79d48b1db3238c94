// The lines of HTTP messages, as the mutator finds them in any bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

// The text of one or several messages as lines. Each keeps its end; the last one may have none.
using Lines = std::vector<std::string>;
Lines lines_of(std::string_view text);
std::string text_of(const Lines& lines);

// Whether the line looks like a field: a name without blanks, then a colon.
bool is_field(std::string_view line);
std::vector<std::size_t> fields_in(const Lines& lines);
bool same_name(std::string_view line, std::string_view other);

// A chunk in the text: its size in hexadecimal digits, CRLF, so many bytes, CRLF.
struct Chunk {
  std::size_t at;    // of the size's first digit
  std::size_t data;  // of the first byte
  std::size_t size;  // of the data

  std::size_t end() const { return data + size + 2; }
};
// Chunks that are whole and not empty.
std::vector<Chunk> chunks_in(std::string_view text);
std::string chunk_text(std::string_view data);

}  // namespace fuzz

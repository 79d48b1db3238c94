// Changes HTTP messages in their own terms, so that a change mostly leaves something to parse.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/mutate/lines.hpp"

namespace fuzz {

// Two mutators with the same seed make the same changes. `most`: bytes that the result may have; a
// change that would exceed them is not made.
class MessageMutator {
 public:
  explicit MessageMutator(unsigned seed) : random_(seed) {}

  // One change: a field line is duplicated, dropped, moved, inserted from the dictionary, or gets
  // another value or form; a response describes its body in another way, or follows an interim one
  // with framing; a number, a method or a status changes; a chunk is split, or joined with
  // the next one; a Content-Length becomes right; or a step of a script (tests/fuzz/proxy) is
  // duplicated, dropped or moved.
  std::string change(std::string_view text, std::size_t most);
  // The first text with some field lines of the second.
  std::string cross(std::string_view text, std::string_view other, std::size_t most);

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  template <class List>
  const auto& any_of(const List& list) {
    return list[below(list.size())];
  }
  std::string line_of_dictionary();

  // Each returns whether it has changed anything.
  bool repeat_field(Lines& lines);
  bool drop_field(Lines& lines);
  bool swap_fields(Lines& lines);
  bool insert_field(Lines& lines);
  bool revalue_field(Lines& lines);
  bool deform_field(Lines& lines);
  bool change_start(Lines& lines);
  bool contradict_answer(Lines& lines);
  bool right_length(Lines& lines);
  bool change_number(std::string& text);
  bool split_chunk(std::string& text);
  bool join_chunks(std::string& text);
  bool change_steps(std::string& text);
  bool change_lines(std::string& text);

  std::mt19937 random_;
};

}  // namespace fuzz

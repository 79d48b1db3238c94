#include "tests/fuzz/mutate/messages.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "tests/fuzz/mutate/dictionary.hpp"

namespace fuzz {
namespace {

constexpr char kStep = '\x1e';  // begins a step of a script

// Where the first number in the text after `from` begins and ends.
std::pair<std::size_t, std::size_t> number_after(std::string_view text, std::size_t from) {
  constexpr std::string_view kDigits = "0123456789";
  const auto first = text.find_first_of(kDigits, from);
  return {first, std::min(text.find_first_not_of(kDigits, first), text.size())};
}

std::vector<std::string> steps_of(std::string_view text) {
  std::vector<std::string> steps;
  while (!text.empty()) {
    const auto end = std::min(text.find(kStep, 1), text.size());
    steps.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return steps;
}

std::vector<std::size_t> starts_in(const Lines& lines) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find("HTTP/") != std::string::npos && !is_field(lines[i])) starts.push_back(i);
  }
  return starts;
}

// Where the message begins in its first line. In a script, the step's mark stands before it.
std::size_t message_in(std::string_view line) {
  const auto mark = line.find(kStep);
  return mark == std::string::npos ? 0 : std::min(mark + 2, line.size());
}

bool is_status_line(std::string_view line) {
  return line.substr(message_in(line)).starts_with("HTTP/");
}

}  // namespace

std::string MessageMutator::change(std::string_view text, std::size_t most) {
  std::string changed(text);
  for (int tries = 0; tries < 8; ++tries) {
    bool done = false;
    switch (below(10)) {
      case 0:
        done = change_number(changed);
        break;
      case 1:
        done = split_chunk(changed) || join_chunks(changed);
        break;
      case 2:
        done = join_chunks(changed);
        break;
      case 3:
        done = change_steps(changed);
        break;
      default:
        done = change_lines(changed);
    }
    if (done && changed.size() <= most) return changed;
    if (done) changed = text;
  }
  changed.resize(std::min(changed.size(), most));
  return changed;
}

bool MessageMutator::change_lines(std::string& text) {
  using Change = bool (MessageMutator::*)(Lines&);
  constexpr Change kChanges[] = {
      &MessageMutator::repeat_field,      &MessageMutator::drop_field,
      &MessageMutator::swap_fields,       &MessageMutator::insert_field,
      &MessageMutator::insert_field,      &MessageMutator::revalue_field,
      &MessageMutator::revalue_field,     &MessageMutator::deform_field,
      &MessageMutator::change_start,      &MessageMutator::right_length,
      &MessageMutator::contradict_answer, &MessageMutator::contradict_answer};
  auto lines = lines_of(text);
  if (!(this->*kChanges[below(std::size(kChanges))])(lines)) return false;
  text = text_of(lines);
  return true;
}

std::string MessageMutator::cross(std::string_view text, std::string_view other, std::size_t most) {
  auto lines = lines_of(text);
  const auto theirs = lines_of(other);
  const auto fields = fields_in(theirs);
  std::size_t size = text.size();
  for (auto count = fields.empty() ? 0 : 1 + below(3); count > 0; --count) {
    const auto ours = fields_in(lines);
    const auto& line = theirs[any_of(fields)];
    if (ours.empty() || size + line.size() > most) break;
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(any_of(ours)), line);
    size += line.size();
  }
  auto crossed = text_of(lines);
  crossed.resize(std::min(crossed.size(), most));
  return crossed;
}

std::string MessageMutator::line_of_dictionary() {
  return std::string(any_of(field_lines())) + "\r\n";
}

bool MessageMutator::repeat_field(Lines& lines) {
  const auto fields = fields_in(lines);
  if (fields.empty()) return false;
  const auto line = lines[any_of(fields)];
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(any_of(fields)), line);
  return true;
}

bool MessageMutator::drop_field(Lines& lines) {
  const auto fields = fields_in(lines);
  if (fields.empty()) return false;
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(any_of(fields)));
  return true;
}

bool MessageMutator::swap_fields(Lines& lines) {
  const auto fields = fields_in(lines);
  if (fields.size() < 2) return false;
  std::swap(lines[any_of(fields)], lines[any_of(fields)]);
  return true;
}

// Before a field or behind one: else a message without fields would never get any.
bool MessageMutator::insert_field(Lines& lines) {
  if (lines.empty()) return false;
  const auto fields = fields_in(lines);
  const auto at = fields.empty() ? below(lines.size()) : any_of(fields);
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at + below(2)), line_of_dictionary());
  return true;
}

bool MessageMutator::revalue_field(Lines& lines) {
  const auto fields = fields_in(lines);
  if (fields.empty()) return false;
  auto& line = lines[any_of(fields)];
  std::vector<std::string_view> others;
  for (const auto other : field_lines()) {
    if (same_name(line, other) && !line.starts_with(other)) others.push_back(other);
  }
  if (others.empty()) return false;
  const std::string_view other = any_of(others);
  const auto end = line.find_last_not_of("\r\n") + 1;
  if (below(3) == 0) {
    const auto value = std::min(other.find(':') + 2, other.size());  // some are empty
    line.insert(end, ", " + std::string(other.substr(value)));
  } else {
    line.replace(0, end, other);
  }
  return true;
}

bool MessageMutator::deform_field(Lines& lines) {
  const auto fields = fields_in(lines);
  if (fields.empty()) return false;
  auto& line = lines[any_of(fields)];
  const auto colon = line.find(':');
  const auto end = line.find_last_not_of("\r\n") + 1;
  switch (below(6)) {
    case 0:
      for (std::size_t i = 0; i < colon; ++i) {
        line[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(line[i])));
      }
      break;
    case 1:
      line.insert(end, " \t");
      break;
    case 2:
      line.insert(colon + 1, "\t  ");
      break;
    case 3:
      line.replace(end, line.size() - end, "\n");
      break;
    case 4:
      line.insert(colon + 1 + below(end - colon), "\r\n ");
      break;
    default:
      line.insert(colon, 1, ' ');
  }
  return true;
}

bool MessageMutator::change_start(Lines& lines) {
  const auto starts = starts_in(lines);
  if (starts.empty()) return false;
  auto& line = lines[any_of(starts)];
  const auto from = message_in(line);
  const bool is_status = is_status_line(line);
  const auto end = is_status ? line.find(' ', line.find(' ', from) + 1) : line.find(' ', from);
  if (end == std::string::npos || end < from) return false;
  line.replace(from, end - from, is_status ? any_of(statuses()) : any_of(methods()));
  return true;
}

bool MessageMutator::contradict_answer(Lines& lines) {
  auto starts = starts_in(lines);
  std::erase_if(starts, [&lines](std::size_t at) { return !is_status_line(lines[at]); });
  if (starts.empty()) return false;
  const auto start = any_of(starts);
  const std::string line = std::string(any_of(descriptions())) + "\r\n";
  if (below(4) == 0) {
    auto& first = lines[start];
    first.insert(message_in(first), "HTTP/1.1 103 Early Hints\r\n" + line + "\r\n");
    return true;
  }
  auto at = lines.begin() + static_cast<std::ptrdiff_t>(start + 1);
  const auto after = at;
  while (at != lines.end() && is_field(*at) && !same_name(*at, line)) ++at;
  if (at != lines.end() && is_field(*at)) {
    *at = line;
  } else {
    lines.insert(after, line);
  }
  return true;
}

// Makes the length right for the bytes after the message's head, up to the next step of a script.
bool MessageMutator::right_length(Lines& lines) {
  const auto is_length = [](const std::string& line) {
    return is_field(line) && same_name(line, "Content-Length:");
  };
  const auto length = std::find_if(lines.begin(), lines.end(), is_length);
  const auto head_end = std::find(length, lines.end(), "\r\n");
  if (head_end == lines.end()) return false;
  std::size_t size = 0;
  for (auto line = head_end + 1; line != lines.end(); ++line) {
    const auto mark = line->find(kStep);
    size += std::min(mark, line->size());
    if (mark != std::string::npos) break;
  }
  *length = "Content-Length: " + std::to_string(size) + "\r\n";
  return true;
}

bool MessageMutator::change_number(std::string& text) {
  if (text.empty()) return false;
  auto [first, end] = number_after(text, below(text.size()));
  if (first == std::string::npos) std::tie(first, end) = number_after(text, 0);
  if (first == std::string::npos) return false;
  while (first > 0 && std::isdigit(static_cast<unsigned char>(text[first - 1]))) --first;
  static const std::vector<std::string> kNumbers{"0",
                                                 "1",
                                                 "4",
                                                 "10",
                                                 "60",
                                                 "8193",
                                                 "1048576",
                                                 "1048577",
                                                 "2147483648",
                                                 "4294967296",
                                                 "9223372036854775807",
                                                 "18446744073709551615",
                                                 "18446744073709551616"};
  const bool is_short = end - first < 18;
  auto number = is_short ? std::stoull(text.substr(first, end - first)) : 0;
  switch (below(5)) {
    case 0:
      text.replace(first, end - first, std::to_string(number + 1));
      break;
    case 1:
      text.replace(first, end - first, std::to_string(number - 1));
      break;
    case 2:
      text.replace(first, end - first, std::to_string(number * 2));
      break;
    case 3:
      text.insert(first, 1, '0');
      break;
    default:
      text.replace(first, end - first, any_of(kNumbers));
  }
  return true;
}

bool MessageMutator::split_chunk(std::string& text) {
  auto chunks = chunks_in(text);
  std::erase_if(chunks, [](const Chunk& chunk) { return chunk.size < 2; });
  if (chunks.empty()) return false;
  const auto chunk = any_of(chunks);
  const auto data = text.substr(chunk.data, chunk.size);
  const auto middle = 1 + below(chunk.size - 1);
  text.replace(chunk.at, chunk.end() - chunk.at,
               chunk_text(std::string_view(data).substr(0, middle)) +
                   chunk_text(std::string_view(data).substr(middle)));
  return true;
}

bool MessageMutator::join_chunks(std::string& text) {
  const auto chunks = chunks_in(text);
  std::vector<std::size_t> followed;
  for (std::size_t i = 0; i + 1 < chunks.size(); ++i) {
    if (chunks[i].end() == chunks[i + 1].at) followed.push_back(i);
  }
  if (followed.empty()) return false;
  const auto first = any_of(followed);
  const auto &one = chunks[first], &two = chunks[first + 1];
  const auto joined = chunk_text(text.substr(one.data, one.size) + text.substr(two.data, two.size));
  text.replace(one.at, two.end() - one.at, joined);
  return true;
}

bool MessageMutator::change_steps(std::string& text) {
  auto steps = steps_of(text);
  if (steps.size() < 3) return false;
  const auto at = steps.begin() + static_cast<std::ptrdiff_t>(1 + below(steps.size() - 1));
  const auto to = steps.begin() + static_cast<std::ptrdiff_t>(1 + below(steps.size() - 1));
  switch (below(3)) {
    case 0: {
      const auto step = *at;
      steps.insert(to, step);
      break;
    }
    case 1:
      steps.erase(at);
      break;
    default:
      std::swap(*at, *to);
  }
  text = text_of(steps);
  return true;
}

}  // namespace fuzz

#include "proxy/lists/read.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ext/stdio_filebuf.h>
#include <istream>
#include <limits>
#include <system_error>

#include "config/text.hpp"
#include "proxy/http/text.hpp"
#include "proxy/machine/descriptor.hpp"

namespace proxy::lists {
namespace {

constexpr std::string_view kBlank = " \t";

Line line_of(ListBuilder::Added added) {
  return added == ListBuilder::Added::yes ? Line::read : Line::no_room;
}

// Cuts the next word off; empty at the end of the line and at a comment.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  if (line.starts_with('#')) line = {};
  const std::string_view word = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(word.size());
  return word;
}

std::string_view without_brackets(std::string_view text) {
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  return bracketed ? text.substr(1, text.size() - 2) : text;
}

// Hosts rarely contain a colon or end in a digit, so parsing only those costs little.
std::optional<config::Address> address_in(std::string_view word) {
  const bool v6 = word.find(':') != std::string_view::npos;
  if (!v6 && !http::is(http::kDigit, word.back())) return std::nullopt;
  return config::parse_address(v6 ? without_brackets(word) : word);
}

// The canonical name; empty if the word is not a host name, or is an address in an unusual
// spelling.
std::string host_in(std::string_view word) {
  std::string host;
  if (word.starts_with('[') || !http::append_canonical_host(host, word) || address_in(host)) {
    return {};
  }
  return host;
}

Line read_prefix(std::string_view url, ListBuilder& into) {
  const auto target = http::parse_target("GET", url);
  if (!target || target->form() != http::Target::Form::absolute) return Line::unknown;
  return line_of(into.add_prefix(target->url()));
}

Line read_prefix_of_both_schemes(std::string_view rest, ListBuilder& into) {
  if (rest.starts_with('/')) return Line::unknown;
  const Line read = read_prefix(std::string("http://").append(rest), into);
  if (read != Line::read) return read;
  return read_prefix(std::string("https://").append(rest), into);
}

// "192.0.2.0/24": an address, and only digits after the slash.
bool is_network(std::string_view word, std::size_t slash) {
  const std::string_view bits = word.substr(slash + 1);
  return slash > 0 && !bits.empty() && http::all(http::kDigit, bits) &&
         config::parse_address(without_brackets(word.substr(0, slash)));
}

Line read_network(std::string_view word, std::size_t slash, ListBuilder& into) {
  const std::string plain =
      std::string(without_brackets(word.substr(0, slash))).append(word.substr(slash));
  const auto networks = config::parse_networks(plain);
  return networks ? line_of(into.add(networks->front())) : Line::unknown;
}

Line read_entry(std::string_view word, ListBuilder& into) {
  const std::size_t slash = word.find('/');
  if (slash != std::string_view::npos) {
    if (word.substr(0, slash).ends_with(':') && word.substr(slash).starts_with("//")) {
      return read_prefix(word, into);
    }
    return is_network(word, slash) ? read_network(word, slash, into)
                                   : read_prefix_of_both_schemes(word, into);
  }
  if (const auto address = address_in(word)) return line_of(into.add({*address}));
  if (word.find(':') != std::string_view::npos) return read_prefix_of_both_schemes(word, into);
  if (word.starts_with('.')) word.remove_prefix(1);
  const std::string host = host_in(word);
  return host.empty() ? Line::unknown : line_of(into.add_host(host));
}

// Reads the names that follow an address. `name` is the first of them.
Line read_hosts_line(std::string_view first, std::string_view name, std::string_view rest,
                     ListBuilder& into) {
  const auto address = config::parse_address(first.substr(0, first.find('%')));  // "fe80::1%lo0"
  if (!address) return Line::unknown;
  for (; !name.empty(); name = next_word(rest)) {
    if (name.find('.') == std::string_view::npos || address_in(name)) continue;
    const std::string host = config::is_loopback(*address) ? host_in(name) : std::string();
    if (host.empty()) return Line::unknown;
    if (into.add_host(host) == ListBuilder::Added::no_room) return Line::no_room;
  }
  return Line::read;
}

}  // namespace

Line read_line(std::string_view line, ListBuilder& into) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::string_view first = next_word(line);
  if (first.empty()) return Line::read;
  const std::string_view second = next_word(line);
  return second.empty() ? read_entry(first, into) : read_hosts_line(first, second, line, into);
}

namespace {

constexpr std::size_t kLongestLine = 2 * http::kMaxUrl;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string reason() {
  return "cannot be read: " + std::generic_category().message(errno);
}

// Adds the lines of a file to a list, with one line in memory at a time. Returns why the file could
// not be read; empty if it was.
std::string read_file(Skipped& skipped, ListBuilder& into) {
  // Without O_NONBLOCK, opening a pipe might wait for ever. What is open is what is checked: the
  // path may lead elsewhere a moment later.
  machine::Descriptor opened(::open(skipped.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!opened || ::fstat(opened.number(), &status) != 0) return reason();
  if (!S_ISREG(status.st_mode)) return "cannot be read: it is not a regular file";
  __gnu_cxx::stdio_filebuf<char> bytes(opened.release(), std::ios::in | std::ios::binary);
  std::istream file(&bytes);
  std::vector<char> buffer(kLongestLine + 2);  // with what ends a line, and with a 0
  for (std::uint64_t number = 1; !file.eof(); ++number) {
    file.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    if (file.bad()) return reason();
    const auto count = static_cast<std::size_t>(file.gcount());
    if (count == 0) break;
    // The last line of a file may lack its line feed. Of a line that is too long, only the
    // beginning is kept, for the person who is told of it.
    const bool is_cut = file.fail() && !file.eof();
    std::string_view line(buffer.data(), is_cut || file.eof() ? count : count - 1);
    if (number == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    const bool is_too_long = is_cut || line.size() > kLongestLine;
    const Line kind = is_too_long ? Line::unknown : read_line(line, into);
    if (kind == Line::no_room) return "holds more than a list has room for; shorten it";
    if (kind == Line::unknown && skipped.lines++ == 0) {
      skipped.first = number;
      skipped.text = config::in_quotes(line);
    }
    if (!is_cut) continue;
    file.clear();
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return file.bad() ? reason() : "";
}

List read_all(const std::vector<std::string>& paths, std::string_view setting,
              config::SettingsErrors& errors, const std::function<void(const Skipped&)>& tell) {
  ListBuilder builder;
  for (const std::string& path : paths) {
    Skipped skipped;
    skipped.path = path;
    if (std::string why = read_file(skipped, builder); !why.empty()) {
      errors.push_back({path + " (setting " + std::string(setting) + ")", std::move(why)});
    }
    if (skipped.lines > 0) tell(skipped);
  }
  return std::move(builder).finish();
}

}  // namespace

boost::system::result<AccessLists, config::SettingsErrors> read_lists(
    const config::AccessSettings& access, const std::function<void(const Skipped&)>& tell) {
  config::SettingsErrors errors;
  List block = read_all(access.lists.block, "access.block", errors, tell);
  List allow = read_all(access.lists.allow, "access.allow", errors, tell);
  if (!errors.empty()) return errors;
  return AccessLists(std::move(block), std::move(allow));
}

}  // namespace proxy::lists

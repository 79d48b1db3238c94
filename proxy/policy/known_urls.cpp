#include "proxy/policy/known_urls.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "digest/key.hpp"
#include "proxy/http/text.hpp"

namespace proxy::policy {
namespace {

// A whole URL without its scheme, or a path alone: no authority begins with "/".
digest::Key key_of(std::string_view authority, std::string_view path) {
  std::string text(authority);
  return digest::key_of(digest::Method::get, text += path);
}

// Without the CR of lines that end with CRLF.
std::string_view trimmed(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return http::trim(line);
}

// Calls use(number, line) for each line that is neither empty nor a comment.
template <class Use>
void for_each_line(std::istream& in, Use use) {
  std::array<char, http::kMaxUrl + 3> buffer{};  // plus a CR and a NUL
  for (std::size_t number = 1;; ++number) {
    in.getline(buffer.data(), buffer.size());
    if (in.bad() || (in.fail() && !in.eof() && in.gcount() > 0)) {
      throw std::runtime_error("line " + std::to_string(number) +
                               (in.bad() ? " cannot be read" : " is too long for a URL"));
    }
    const auto read = static_cast<std::size_t>(in.gcount());  // the newline is counted, not kept
    const std::size_t size = in.eof() || read == 0 ? read : read - 1;
    const std::string_view line = trimmed({buffer.data(), size});
    if (!in.fail() && !line.empty() && line.front() != '#') use(number, line);
    if (in.eof() || in.fail()) return;
  }
}

// The size of a filter is fixed before the first key, and a list of millions of URLs is not kept.
std::uint64_t count_lines(std::istream& in) {
  std::uint64_t count = 0;
  for_each_line(in, [&count](std::size_t, std::string_view) { ++count; });
  in.clear();
  in.seekg(0);
  if (!in) throw std::runtime_error("it can be read only once; a regular file is needed");
  return count;
}

digest::BlockedFilter filter_for(std::istream& in) {
  const auto count = std::max<std::uint64_t>(count_lines(in), 1);
  auto filter = digest::BlockedFilter::for_capacity(count, KnownUrls::kRate);
  if (!filter) throw std::runtime_error("more URLs than a filter can hold");
  return std::move(*filter);
}

}  // namespace

KnownUrls::KnownUrls(std::istream& lines) : filter_(filter_for(lines)) {
  for_each_line(lines, [this](std::size_t number, std::string_view line) {
    const auto url = http::parse_target("GET", line);
    if (!url) {
      throw std::runtime_error("line " + std::to_string(number) +
                               " is no URL like http://www.example.com/x, and no path like /x: " +
                               std::string(http::text(url.error())));
    }
    const bool whole = url->form() == http::Target::Form::absolute;
    filter_.insert(key_of(whole ? url->authority() : std::string_view{}, url->path()));
  });
}

KnownUrls KnownUrls::of_file(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw std::runtime_error(path + " is no regular file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) throw std::runtime_error(path + " cannot be opened");
  try {
    return KnownUrls(file);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ", " + error.what());
  }
}

// A share of strangers' URLs passes: the origin answers those, as it would without a list.
bool KnownUrls::may_have(const http::Target& target) const {
  return filter_.contains(key_of(target.authority(), target.path())) ||
         filter_.contains(key_of({}, target.path()));
}

}  // namespace proxy::policy

#include "config/path_glob.hpp"

namespace config {
namespace {

// In the path of a URL, a byte beyond ASCII takes three: "%C3".
std::size_t places_of(std::string_view glob) {
  std::size_t places = 0;
  for (const char c : glob) {
    const bool is_ascii = static_cast<unsigned char>(c) < 128;
    places += c == '*' ? 0U : is_ascii ? 1U : 3U;
  }
  return places;
}

}  // namespace

bool is_path_glob(std::string_view text) {
  constexpr std::size_t kLongest = 128;
  return !text.empty() && text.size() <= kLongest && (text.front() == '/' || text.front() == '*') &&
         places_of(text) <= kMostPlaces;
}

}  // namespace config

#include "proxy/mirrors/links.hpp"

#include <algorithm>

#include "proxy/http/text.hpp"
#include "proxy/mirrors/mirrored_url.hpp"

namespace proxy::mirrors {
namespace {

constexpr std::size_t kDigitsOfSha256 = 64;

bool is_sha256(std::string_view text) {
  return text.size() == kDigitsOfSha256 && http::all(http::kHex, text);
}

// The digits of "#sha256=HEX", perhaps with other parameters behind them.
std::string_view digest_in(std::string_view fragment) {
  constexpr std::string_view kName = "#sha256=";
  if (!fragment.starts_with(kName)) return {};
  fragment.remove_prefix(kName.size());
  return fragment.substr(0, fragment.find('&'));
}

// The URL as the mirror's client asks for it, in the spelling that the server has chosen.
std::string mirror_path_of(const http::Target& url) {
  return std::string("/")
      .append(url.scheme())
      .append("/")
      .append(url.authority())
      .append(url.asked_path());
}

}  // namespace

LinkTo links_at(Place place, http::Target page,
                std::function<bool(const http::Target&)> is_mirrored) {
  return [place = std::move(place), page = std::move(page), is_mirrored = std::move(is_mirrored)](
             std::string_view link, std::string_view sha256) -> std::optional<std::string> {
    if (link.empty() || link.starts_with('#') || place.base.empty()) return std::nullopt;
    const auto fragment = link.substr(std::min(link.find('#'), link.size()));
    const auto to = http::resolve(page, link.substr(0, link.size() - fragment.size()));
    if (!to || to->had_userinfo()) return std::nullopt;
    const bool is_own = http::same_origin(*to, page);
    const auto path = mirror_path_of(*to);
    if (!(is_own || is_mirrored(*to)) || !mirrored_url(path)) {
      if (!link.starts_with("//")) return std::nullopt;
      // It would take our scheme, which may be http.
      return std::string(to->scheme())
          .append("://")
          .append(to->authority())
          .append(to->asked_path())
          .append(fragment);
    }
    if (!is_sha256(sha256)) sha256 = digest_in(fragment);
    auto url = place.base;
    if (is_sha256(sha256)) {
      url.append("/sha256/").append(http::lower(sha256)).append(path);
    } else if (is_own) {
      url = place.ours + std::string(to->asked_path());
    } else {
      url += path;
    }
    return url.append(fragment);
  };
}

bool Edits::add(Edit edit) {
  taken_ += sizeof(Edit) + edit.text.size();
  if (taken_ > most_) return false;
  edits_.push_back(std::move(edit));
  return true;
}

// The digest of an object's member may be read after its links, so edits come in any order.
void Edits::apply_to(std::string& text) {
  std::ranges::sort(edits_, {}, &Edit::begin);
  auto size = text.size();
  for (const auto& edit : edits_) size += edit.text.size() - (edit.end - edit.begin);
  std::string anew;
  anew.reserve(size);
  std::size_t copied = 0;
  for (const auto& edit : edits_) {
    anew.append(text, copied, edit.begin - copied).append(edit.text);
    copied = edit.end;
  }
  text = std::move(anew.append(text, copied));
}

}  // namespace proxy::mirrors

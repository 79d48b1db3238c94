// Redirects that this proxy follows in place of its clients. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/target.hpp"
#include "proxy/mirrors/linked_file.hpp"

namespace proxy::mirrors {

// Whether the status is one of those whose Location clients follow.
bool is_redirect(unsigned status);

// Whether an answer is a redirect, and whether it is followed, or why it is not.
enum class Redirect : std::uint8_t {
  none,       // it is no redirect
  followed,   // its target is asked next
  circle,     // its target was asked before, or it is one redirect too many
  leads_out,  // to a URL that may not be asked, or from https to http
  no_target,  // no Location, several, or one that is no URL
};

// The URLs of one question, from the first one on.
class Redirects {
 public:
  static constexpr std::size_t kMost = 10;

  explicit Redirects(const http::Target& first) : urls_{first} {}

  // Judges the answer to the last URL. If it is followed, its target is the last URL from now on.
  // `may_ask`: whether the settings allow the target.
  Redirect judge(const http::ResponseHead& answer,
                 const std::function<bool(const http::Target&)>& may_ask);
  [[nodiscard]] const http::Target& first() const { return urls_.front(); }
  [[nodiscard]] const http::Target& last() const { return urls_.back(); }
  [[nodiscard]] bool any() const { return urls_.size() > 1; }

 private:
  std::vector<http::Target> urls_;
};

// The limits that redirects set for the answer to which they lead. The answer is stored under the
// first URL, and clients and neighbours get it under that URL, so the strictest redirect counts.
struct SaidOnTheWay {
  bool may_be_kept = true;
  // How long all redirects stay as they are. Begins at the same time as the answer's own lifetime.
  std::chrono::seconds lasts = http::kForever;
  std::string vary = {};  // a list; may be empty
};

// The Cache-Control that replaces an answer's own, so that nobody uses the answer for longer than
// the redirects on the way to it last. Empty: the answer's own asks for no more than that. Returns
// no-store if a new value could not express all that the answer's own does. `own`: the answer's
// directives. `lifetime`: that of the answer, by whatever field or rule.
std::string bounding_control(const http::CacheControl& own, std::chrono::seconds lifetime,
                             const SaidOnTheWay& said);

// What is written anew in the head of an answer. The result of fields_for_first() refers to it.
struct WrittenAnew {
  std::string control = {};                    // Cache-Control; empty: as it is
  std::string vary = {};                       // one more Vary; empty: none
  std::string location = {};                   // empty: as it is
  std::span<const std::string> targeted = {};  // fields that would count before Cache-Control
  const LinkedFile* linked = nullptr;          // null: no redirect has told of the file
};

// The fields of the answer to the last URL, for those who asked for the first one. Without
// Set-Cookie, if the last URL is another origin's.
http::Fields fields_for_first(const http::Fields& answer, const Redirects& way,
                              const WrittenAnew& anew);

// A request head of ours, changed to ask `to` in place of `from`. Without Authorization and Cookie,
// if `to` is another origin: they are for the first one alone.
std::string redirected_head(std::string_view head, const http::Target& from,
                            const http::Target& to);

}  // namespace proxy::mirrors

// Redirects that this proxy follows in place of its clients. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/head.hpp"
#include "proxy/http/target.hpp"
#include "proxy/mirrors/mirrored_url.hpp"

namespace proxy::mirrors {

// What an answer comes to.
enum class Redirect : std::uint8_t {
  none,       // it is no redirect
  followed,   // its target is asked next
  circle,     // its target was asked before, or it is one redirect too many
  leads_out,  // to a host that mirrors.hosts lacks, or from https to http
  no_target,  // no Location, several, or one that is no URL
};

// The URLs of one question, from the first one on.
class Redirects {
 public:
  static constexpr std::size_t kMost = 10;

  explicit Redirects(const http::Target& first) : asked_(first), urls_{first.url()} {}

  // Judges the answer to the last URL. If it is followed, its target is the last URL from now on.
  Redirect judge(const http::ResponseHead& answer, const MirroredHosts& hosts);
  [[nodiscard]] const http::Target& last() const { return asked_; }

 private:
  http::Target asked_;
  std::vector<std::string> urls_;
};

// A request head of ours, changed to ask `to` in place of `from`. Without Authorization and Cookie,
// if `to` is another origin: they are for the first one alone.
std::string redirected_head(std::string_view head, const http::Target& from,
                            const http::Target& to);

}  // namespace proxy::mirrors

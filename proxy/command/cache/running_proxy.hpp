// A proxy that runs, asked by `hearsay cache` for what it holds.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "proxy/command/cache/configured_cache.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {

struct Question {
  std::string target;     // the page, and its query
  bool changes = false;   // POST, with the field that says that it is meant
  std::string body = {};  // of that
};

// Asks the proxy that was started with these settings, at the first of its sockets, and tells of
// each line of the answer as it comes, until `each` says false: each is an object. Trouble where no
// proxy answers, where it refuses, where it says that it breaks off ({"error": "why"}), and where
// the answer is cut or is none of these.
Result<void> ask_running(const CachePlace& place, const Question& question,
                         const std::function<bool(const inspect::Report&)>& each);

// A text as the value of a parameter in a URL.
std::string as_parameter(std::string_view text);

}  // namespace proxy::command

// The outcomes of asking a running proxy, as exit codes for scripts.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <utility>

namespace proxy::command {

inline constexpr int kRefusal = 1;      // the proxy says no, or what it says is no good news
inline constexpr int kUsage = 2;        // the command line or the settings file is wrong
inline constexpr int kUnreachable = 3;  // no proxy answers

// Why there is no answer: the exit code, and a text for a person with what to do.
struct Unanswered {
  Unanswered() = default;
  Unanswered(int code, std::string why) : exit_code(code), text(std::move(why)) {}

  int exit_code = kUnreachable;
  std::string text;
};

template <class T>
using Answered = boost::system::result<T, Unanswered>;

}  // namespace proxy::command

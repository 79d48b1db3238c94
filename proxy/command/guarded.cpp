#include "proxy/command/guarded.hpp"

#include <fmt/format.h>

#include <new>
#include <stdexcept>

namespace proxy::command {
namespace {

Trouble out_of_memory(std::string_view remedy) {
  return {fmt::format("not enough memory; {}", remedy)};
}

}  // namespace

Result<int> guarded(const std::function<Result<int>()>& work, std::string_view remedy) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return out_of_memory(remedy);
  } catch (const std::length_error&) {
    return out_of_memory(remedy);
  } catch (const std::exception& error) {
    return Trouble{fmt::format("broke off: {}; please report this", error.what())};
  }
}

int exit_code(const Result<int>& done, std::string_view command, const Streams& streams) {
  if (done) return *done;
  say(streams.err, fmt::format("hearsay {}: {}\n", command, done.error().text));
  return kFailed;
}

}  // namespace proxy::command

#include "proxy/command/run_subcommand.hpp"

#include <fmt/format.h>

#include <new>
#include <stdexcept>

namespace proxy::command {
namespace {

Trouble out_of_memory(std::string_view remedy) {
  return {fmt::format("not enough memory; {}", remedy)};
}

// An exception must not end the program with an exit code that says something about the work.
Result<int> without_exceptions(const Work& work, std::string_view remedy, const Streams& streams) {
  try {
    return work(streams);
  } catch (const std::bad_alloc&) {
    return out_of_memory(remedy);
  } catch (const std::length_error&) {
    return out_of_memory(remedy);
  } catch (const std::exception& error) {
    return Trouble{fmt::format("broke off: {}; please report this", error.what())};
  }
}

}  // namespace

int run_subcommand(const Work& work, std::string_view name, std::string_view remedy,
                   const Streams& streams) {
  const auto done = without_exceptions(work, remedy, streams);
  if (done) return *done;
  say(streams.err, fmt::format("hearsay {}: {}\n", name, done.error().text));
  return kFailed;
}

}  // namespace proxy::command

#include "tests/proxy/command/digest_invocation.hpp"

#include <CLI/CLI.hpp>
#include <csignal>

#include "proxy/command/digest.hpp"

namespace proxy::command {

int run_digest_on(const std::vector<std::string>& arguments, const Streams& streams) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App program("hearsay");
  const auto digest = add_digest(program);
  std::vector<std::string> reversed{arguments.rbegin(), arguments.rend()};
  reversed.emplace_back("digest");
  program.parse(reversed);
  return digest(streams);
}

Said run_digest(const std::vector<std::string>& arguments, std::string_view input) {
  const StreamFile in(input);
  const StreamFile out;
  const StreamFile err;
  const int code = run_digest_on(arguments, {in.descriptor(), out.descriptor(), err.descriptor()});
  return {code, out.content(), err.content()};
}

}  // namespace proxy::command

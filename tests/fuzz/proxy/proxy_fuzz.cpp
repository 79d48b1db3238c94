// The whole proxy: what clients, origins, neighbours and the clock do to it is one input, a script
// (script.hpp). Whatever they do, the proxy keeps the promises in judge.hpp. Run it with
// -entropic=0: libFuzzer's statistics of features would take nine tenths of the time.
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "tests/fuzz/proxy/accuse.hpp"
#include "tests/fuzz/proxy/play.hpp"

namespace {

// The proxy catches exceptions that only a bug throws, and logs them as errors.
class Listener final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& line) override {
    const std::string_view text(line.payload.data(), line.payload.size());
    if (text.find("inside this proxy") != std::string_view::npos) fuzz::accuse(text);
  }
  void flush_() override {}
};

bool prepare() {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("", std::make_shared<Listener>()));
  spdlog::set_level(spdlog::level::err);
  if (std::filesystem::is_directory("/dev/shm")) ::setenv("TMPDIR", "/dev/shm", 0);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  [[maybe_unused]] static const bool prepared = prepare();
  const auto script = fuzz::read_script({reinterpret_cast<const char*>(data), size});
  fuzz::Play(script).run();
  return 0;
}

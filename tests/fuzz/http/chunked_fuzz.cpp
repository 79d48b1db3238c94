// A chunked body decodes to the same bytes however the input is split.
#include <cstdlib>
#include <string>

#include "proxy/http/framing.hpp"

using namespace proxy::http;

namespace {

std::string decode(std::string_view bytes, std::size_t piece) {
  ChunkedDecoder decoder;
  std::string body;
  while (!bytes.empty()) {
    const auto step = decoder.feed(bytes.substr(0, piece));
    body += step.body;
    bytes.remove_prefix(step.consumed);
    if (step.state == ChunkedDecoder::State::failed) return body + " failed";
    if (step.state == ChunkedDecoder::State::done) return body + " done " + std::string(bytes);
  }
  return body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (decode(bytes, 1) != decode(bytes, std::string_view::npos)) std::abort();
  return 0;
}

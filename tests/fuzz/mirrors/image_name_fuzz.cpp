// A path of the registry API is that of its parts again, and a server reads it in one way.
#include <cstdlib>
#include <string>

#include "proxy/mirrors/image_name.hpp"
#include "proxy/mirrors/mirrored_url.hpp"

using namespace proxy;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string path(reinterpret_cast<const char*>(data), size);
  const auto asked = mirrors::AskedImage::parse(path);
  if (!asked) return 0;
  if (!mirrors::is_registry_path(path) || mirrors::is_registry_ping(path)) std::abort();
  const auto again = mirrors::ImagePart::parse(asked->part.path());
  if (!again || again->kind != asked->part.kind || again->name != asked->part.name ||
      again->reference != asked->part.reference) {
    std::abort();
  }
  if (asked->by_parameter && asked->registry.empty()) std::abort();
  const auto host = asked->registry.empty() ? "registry.example" : asked->registry;
  if (!mirrors::mirrored_url("/https/" + host + asked->part.path())) std::abort();
  return 0;
}

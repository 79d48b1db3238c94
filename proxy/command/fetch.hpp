// `hearsay fetch`: has a running proxy store URLs, images, and repositories of Hugging Face.
#pragma once

#include <string>
#include <vector>

#include "proxy/command/streams.hpp"

namespace proxy::command {

inline constexpr unsigned kMostParallel = 64;

struct FetchOptions {
  std::vector<std::string> what;  // as first_step() reads them, and files of such lines
  unsigned parallel = 4;
  std::string config;  // the proxy's settings, whose first `listen` is asked
  std::string proxy;   // its URL instead; empty, as `config`: the usual settings
  std::vector<std::string> platforms = {};  // of images; "all": any; empty: this machine's
};

// Asks the proxy for each URL as a client would, and follows redirects. Of an image, asks for its
// manifests, and for all that they name. The body of a response that the proxy holds already is not
// read. Of any other, the proxy is asked once more whether it has kept the whole. Stderr gets a
// line for each URL that failed, and for each one that the proxy does not store. SIGINT and SIGTERM
// end it early. Returns the exit code (ask.hpp), or kSignalled plus the signal. Throws nothing.
int fetch(const FetchOptions& options, const Streams& streams);

// The URL to ask for, without a fragment; empty: it is no http or https URL. `base`: what it is
// relative to; empty: nothing. Pure.
std::string url_to_ask(const std::string& url, const std::string& base = {});

// Whether a member of Cache-Status says that its proxy stores the whole response: it is a hit, or
// the origin has confirmed it. Pure.
bool says_stored(std::string_view member);

// Whether a proxy says that the response is not stored, or only in part. `member`: the proxy's part
// of Cache-Status, in an answer to only-if-cached. Pure.
bool says_lacking(std::string_view member);

}  // namespace proxy::command

// The challenge of a registry that gives images for a token alone, whom to ask for the token, and
// the answer of that server (distribution: token authentication specification). Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/head.hpp"
#include "proxy/http/target.hpp"

namespace proxy::mirrors {

// A challenge of the scheme Bearer (RFC 6750 3), as its server, which may be anybody's, wrote it.
struct BearerChallenge {
  std::string realm;  // not empty
  std::string service;
  std::string scope;

  // Of all lines WWW-Authenticate (RFC 9110 11.6.1), the first such challenge that has a realm.
  // Other schemes, and what is no challenge, are skipped. Nothing if there is none.
  static std::optional<BearerChallenge> parse(const http::Fields& answer);
};

// Whether `realm` may be asked for a token of `registry`: over https at the standard port or that
// of the registry, without a user, and only if its host is the registry's, or both are of one
// domain. The latter is judged without a list of public suffixes: the registry's host without its
// first label, if two labels are left of which the first has more than three letters, or three.
// Addresses have no domain.
bool may_ask_for_token(const http::Target& realm, const http::Target& registry);

// The realm of the challenge with its parameters: a URL that gives an anonymous token to read the
// repository `name`. Nothing if the realm is no https URL without a user.
std::optional<http::Target> token_url(const BearerChallenge& challenge, std::string_view name);

// The answer of a token server.
struct AnonymousToken {
  static constexpr std::size_t kMostBytes = 64 * 1024;  // of a whole answer

  std::string text;                // fit for a field value
  std::chrono::seconds lasts{60};  // from the answer on; at most a day

  // `body`: JSON with `token` or `access_token`, and perhaps `expires_in`. Nothing for anything
  // else, and for more than kMostBytes.
  static std::optional<AnonymousToken> parse(std::string_view body);
};

}  // namespace proxy::mirrors

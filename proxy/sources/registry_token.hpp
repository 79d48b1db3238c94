// Tokens with which anybody may read a repository of a registry.
#pragma once

#include <string>
#include <string_view>

#include "proxy/http/target.hpp"
#include "proxy/mirrors/challenge.hpp"
#include "proxy/net/task.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy::policy {
struct Policy;
}

namespace proxy::sources {

struct SourceAccess;

// The question for a token by which KnownAnswers know it. `url`: of a part of the repository.
std::string token_question(const http::Target& url, std::string_view name);

// A refusal for want of a token.
struct TokenWanted {
  const http::Target& url;  // what was asked for
  std::string_view name;    // of the repository
  std::string_view sent;    // the token that was refused; empty: none was sent
  mirrors::BearerChallenge challenge;
};
// Gets a token from the server that the challenge names, if the policy's registries let it be asked
// (mirrors::Registries), or if it is mirrored itself. Empty: there is none for anybody. Of a crowd,
// one asks, and the others wait and get the same. A failure: the server cannot be reached, or has
// no time, which it says by 429 or a status from 500 on. Whatever `wanted` refers to outlives the
// task.
net::Task<upstream::Outcome<std::string>> anonymous_token(SourceAccess& access,
                                                          const policy::Policy& policy,
                                                          const TokenWanted& wanted);

// A request head of ours, with the token in place of another one.
std::string authorized_head(std::string_view head, std::string_view token);

}  // namespace proxy::sources

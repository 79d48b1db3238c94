// What the tags of registries name, as the registries have said (upstream/known_answers.hpp).
#pragma once

#include <optional>
#include <string>

#include "proxy/policy/request.hpp"
#include "proxy/upstream/known_answers.hpp"

namespace proxy::sources {

struct SourceAccess;

// Whether the request is for the manifest that a tag names, of a mirrored registry, without a
// query.
bool is_for_tag(const policy::Request& request);

// The question what the tag names for a client with this Accept: registries choose by that among
// the forms of a manifest.
std::string tag_question(const policy::Request& request);
// The question what it named for the last client that asked.
std::string last_tag_question(const policy::Request& request);

// Makes the request one for the manifest by its digest. Does nothing if the digest is empty, or the
// request is for no part of an image.
void aim_at_digest(policy::Request& request, const std::string& digest);

// What the tag of a request names.
struct KnownTag {
  std::string tag;
  std::optional<upstream::KnownAnswers::Answer> answer;  // the registry's last one; nothing: none
};
// Makes a request for a tag one for the manifest that the tag names, if that is known. Asks nobody.
// Nothing: the request is for no tag.
std::optional<KnownTag> resolve_known_tag(const SourceAccess& access, policy::Request& request);

}  // namespace proxy::sources

// What the tags of registries name, as the registries have said (upstream/known_answers.hpp).
#pragma once

#include <optional>
#include <string>

#include "digest/key.hpp"
#include "proxy/net/task.hpp"
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

// The key of the record of what the tag names for a client with this Accept. A record is stored
// like a response, so that it outlives this process. Neighbours learn of it, but nobody can ask for
// it by its name, which is no URL (cache::Space::content).
digest::Key tag_record_key(const policy::Request& request);
// Finds the digest in the record. Empty: there is no record.
net::Task<std::string> recorded_digest(SourceAccess& access, const policy::Request& request);
// Makes the record, or drops it if `digest` is empty, unless it says so already.
net::Task<void> record_digest(SourceAccess& access, const policy::Request& request,
                              const std::string& digest);
// The digest that an answer with a manifest says that it has. Empty: it says none.
std::string digest_said_by(const http::Fields& answer);

// What the tag of a request names.
struct KnownTag {
  std::string tag;
  std::optional<upstream::KnownAnswers::Answer> answer;  // the registry's last one; nothing: none
};
// Makes a request for a tag one for the manifest that the tag names, if that is known. Asks nobody.
// Nothing: the request is for no tag.
std::optional<KnownTag> resolve_known_tag(const SourceAccess& access, policy::Request& request);

}  // namespace proxy::sources

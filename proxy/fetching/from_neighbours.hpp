// The neighbours' part in a fill.
#pragma once

#include <optional>

#include "proxy/fetching/context.hpp"
#include "proxy/fetching/origin_answer.hpp"

namespace proxy::fetching {

// What is left for the origin.
struct LeftForOrigin {
  // The question, if the origin was asked while a neighbour was silent. It has its outcome().
  std::optional<sources::Attempt> asked;
};

// Asks the neighbours that claim the job's URL, if FillJob::allowed says so, and writes the first
// useful answer. Asks the origin `question` while a neighbour is silent, and by another route while
// a parent is (sources/claimant_search). Returns nothing if the fill has ended.
//
// If the answer is cut, another source supplies the rest. If the neighbour is silent while it
// fetches the body itself, the origin is asked for the rest, too, and the first to go on wins. No
// other source can supply the rest of an answer without a strong validator. A small answer of this
// kind is held back until it is whole; if it is cut, the next source is asked for the whole
// response. A large answer of this kind is of use only if the origin fails. The client notices a
// change of source only if no source has the rest of what it was sent.
net::Task<std::optional<LeftForOrigin>> fill_from_neighbours(FillContext& context,
                                                             const OriginQuestion& question);

}  // namespace proxy::fetching

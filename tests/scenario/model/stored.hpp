// One stored response as RFC 9111 speaks of it, clause by clause, slow and obvious.
#pragma once

#include "tests/scenario/model/message.hpp"
#include "tests/scenario/model/words.hpp"

namespace model {

struct Stored {
  int number = 0;  // the how manieth answer of the origin it is
  Ask ask;         // that it answered
  Answer answer;   // with the fields that a 304 or an answer to HEAD has put in since
  Seconds asked = 0, answered = 0;

  Control control() const { return Control(answer.fields); }
};

// RFC 9111 4.2.1, 4.2.2: heuristically a tenth of what has passed since Last-Modified, a day at
// most. Whether the response itself says it.
Seconds lifetime(const Stored& stored);
bool is_explicit(const Stored& stored);
// 4.2.3. Also the time of its Date, where it has one, else that of its arrival.
Seconds age(const Stored& stored, Seconds now);
Seconds date_of(const Stored& stored);

// 5.2.1.5: what answers it is not to be stored; so is it where nobody can read its Cache-Control.
bool forbids_storing(const Ask& ask);
// 3: nothing forbids a shared cache to store it.
bool may_store(const Stored& stored);
// Ours promises to: that it stores it where that may be of use.
bool is_useful(const Stored& stored);

// 4.1: the request is one that it answers; and whether two are selected by the same requests.
bool selects(const Stored& stored, const Ask& ask);
bool same_selection(const Stored& a, const Stored& b);
// 4, 4.1: where both are, `a` is the one to use, whichever came first; `slack` as to their dates.
bool is_preferred(const Stored& a, const Stored& b, Seconds slack);

// 4, 5.2.1: it may answer the request without asking the origin, were it `age` seconds old.
bool may_reuse(const Stored& stored, const Ask& ask, Seconds age);
// RFC 5861 3: the same, but the origin is to be asked in the background.
bool may_reuse_first(const Stored& stored, const Ask& ask, Seconds age);
// 4.2.4, RFC 5861 4: it may answer for an origin that fails; `leave` is what the cache grants for
// an origin that is out of reach.
bool may_stand_in(const Stored& stored, const Ask& ask, Seconds age, Seconds leave);

// The one value of a field that is no list; empty where two lines differ.
std::string agreed(const Fields& fields, std::string_view name);
// 4.3.2, RFC 9110 13: the request's own condition makes it a 304.
bool unmodified(const Stored& stored, const Ask& ask);
// 4.3.4: the 304, or the answer to HEAD (4.3.5), speaks of this response; and what becomes of it.
// `alone`: it was asked about nothing else.
bool identifies(const Answer& unmodified, const Stored& stored, bool alone);
void freshen(Stored& stored, const Exchange& exchange);

// The fields that a client other than who asked may see of it.
Fields kept_fields(const Stored& stored);

}  // namespace model

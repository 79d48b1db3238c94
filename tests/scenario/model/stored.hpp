// One stored response, and the clauses of RFC 9111 about it, in slow and obvious code.
#pragma once

#include "tests/scenario/model/message.hpp"
#include "tests/scenario/model/words.hpp"

namespace model {

struct Stored {
  int number = 0;  // of the origin's answers, in order
  Ask ask;         // the request that it answered
  Answer answer;   // with the fields that a later 304 or answer to HEAD added
  Seconds asked = 0, answered = 0;

  Control control() const { return Control(answer.fields); }
};

// RFC 9111 4.2.1, 4.2.2. The heuristic lifetime is a tenth of the time since Last-Modified, at most
// a day. is_explicit(): the response itself states its lifetime.
Seconds lifetime(const Stored& stored);
bool is_explicit(const Stored& stored);
// 4.2.3. date_of(): the time in Date, or of arrival if there is no Date.
Seconds age(const Stored& stored, Seconds now);
Seconds date_of(const Stored& stored);

// 5.2.1.5: the response to this request may not be stored. An unreadable Cache-Control forbids it,
// too.
bool forbids_storing(const Ask& ask);
// 3: no rule forbids a shared cache to store the response.
bool may_store(const Stored& stored);
// Whether a Set-Cookie may be stored with a response that says this: Hearsay's promise beyond the
// RFC.
bool may_keep_cookie(const Control& control);
// Hearsay promises to store a response that may be of use.
bool is_useful(const Stored& stored);

// 4.1: the request selects this response. same_selection(): the same requests select both.
bool selects(const Stored& stored, const Ask& ask);
bool same_selection(const Stored& a, const Stored& b);
// 4, 4.1: of two selected responses, `a` is the one to use. Dates within `slack` count as equal.
bool is_preferred(const Stored& a, const Stored& b, Seconds slack);

// 4, 5.2.1: at this age the response may answer the request without the origin.
bool may_reuse(const Stored& stored, const Ask& ask, Seconds age);
// RFC 5861 3: the same, while the cache asks the origin in the background.
bool may_reuse_first(const Stored& stored, const Ask& ask, Seconds age);
// 4.2.4, RFC 5861 4: the response may answer for an origin that fails. `leave`: the staleness that
// the cache allows for an origin out of reach.
bool may_stand_in(const Stored& stored, const Ask& ask, Seconds age, Seconds leave);

// The value of a field that is no list; empty if two lines differ.
std::string agreed(const Fields& fields, std::string_view name);
// 4.3.2, RFC 9110 13: the request's condition turns the response into a 304.
bool unmodified(const Stored& stored, const Ask& ask);
// 4.3.4: the 304, or the answer to HEAD (4.3.5), is about this response. `alone`: the request had
// no other validators. freshen() merges its fields.
bool identifies(const Answer& unmodified, const Stored& stored, bool alone);
void freshen(Stored& stored, const Exchange& exchange);

// The fields that other clients than the first may see.
Fields kept_fields(const Stored& stored);

}  // namespace model

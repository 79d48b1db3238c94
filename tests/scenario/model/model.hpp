// The model: all that a shared cache may hold after what it was seen to ask and to be told, and
// whether what it does with the next request is right (RFC 9111). It watches from outside.
#pragma once

#include <string>
#include <vector>

#include "tests/scenario/model/stored.hpp"

namespace model {

struct Leave {
  Seconds slack = 0;     // how far the cache's clock and ours may be apart
  Seconds reach = 3600;  // stale answers for an origin out of reach
};

// Where we promise more than the RFC asks, or use less than it allows, by what the headers of
// proxy/cache/ say: only the most recent response that a request selects is considered; only what
// may be of use is stored; only-if-cached is answered by a stored 200 alone; HEAD, no-store
// and If-Match go to the origin as they are, and the answers to them are not kept; what comes and
// is not kept takes away what was held.
class Model {
 public:
  explicit Model(const Leave& leave) : leave_(leave) {}

  // What is wrong with how the cache took this request; nothing if all is right. Takes note of it.
  std::vector<std::string> watch(const Ask& ask, const Told& told);

  std::size_t reused() const { return reused_; }
  int answers() const { return answers_; }  // of the origin so far

 private:
  using Held = std::vector<Stored>;

  void problem(const std::string& text) { problems_.push_back(text); }
  Stored* by_serial(const Answer& response);
  const Stored* most_recent(const Ask& ask) const;
  const Stored* asked_of(const Ask& ask, const Ask& sent) const;
  bool should_serve(const Ask& ask, Seconds now) const;
  bool overtaken(const Stored& stored, const Ask& ask, Seconds now) const;

  void watch_unasked(const Ask& ask, const Told& told);
  void watch_asked(const Ask& ask, const Told& told);
  bool took_stale(const Ask& ask, const Told& told);
  void check_sent(const Ask& ask, const Exchange& exchange);
  void check_reuse(const Stored& stored, const Ask& ask, Seconds now);
  void check_content(const Stored& stored, const Ask& ask, const Told& told);
  void check_passed(const Ask& ask, const Told& told);

  void learn(const Ask& ask, const Exchange& exchange);
  void learn_whole(const Ask& ask, const Exchange& exchange);
  void learn_unmodified(const Ask& ask, const Exchange& exchange);
  void learn_of_head(const Ask& ask, const Exchange& exchange);
  void learn_of_change(const Ask& ask, const Answer& answer);
  void keep(const Stored& stored);
  void drop(int number);
  void drop_all(int url);

  const Leave leave_;
  Held held_;
  std::optional<Stored> validated_;  // by the exchange seen last, as it then is
  int answers_ = 0;
  std::size_t reused_ = 0;
  std::vector<std::string> problems_;
};

// Whether a request was passed on as it is: one that is not to be stored, or not to be changed.
bool passed_as_it_is(const Ask& ask, const Ask& sent);

}  // namespace model

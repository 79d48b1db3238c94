// The model of a shared cache (RFC 9111). It watches a cache from outside: it keeps all responses
// that the cache may have stored, and judges how the cache takes the next request.
#pragma once

#include <string>
#include <vector>

#include "tests/scenario/model/stored.hpp"

namespace model {

struct Leave {
  Seconds slack = 0;     // the greatest difference between the cache's clock and the model's
  Seconds reach = 3600;  // staleness allowed while the origin is out of reach
};

// Hearsay promises more than the RFC asks, or uses less than it allows, where the headers of
// proxy/cache/ say so. Only the most recent response that a request selects is considered. Only a
// response that may be of use is stored. Only a stored 200 answers only-if-cached, which neighbours
// send, and only if it sets no cookie. HEAD, no-store and If-Match go to the origin unchanged, and
// their responses are not stored. A response that is not stored removes the stored ones that it
// would have replaced.
class Model {
 public:
  explicit Model(const Leave& leave) : leave_(leave) {}

  // Judges how the cache took this request, and learns from it. Returns the problems found.
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
  std::optional<Stored> validated_;  // freshened by the last exchange
  int answers_ = 0;
  std::size_t reused_ = 0;
  std::vector<std::string> problems_;
};

// Whether the cache must pass this request on unchanged: its response may not be stored, or its
// conditions may not be changed.
bool passed_as_it_is(const Ask& ask, const Ask& sent);

}  // namespace model

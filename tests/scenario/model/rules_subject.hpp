// The rules and the store of proxy/cache/, without sockets and with the test's clock. A small
// interpreter stands in for the proxy's request path.
#pragma once

#include <memory>

#include "proxy/cache/judge.hpp"
#include "proxy/cache/other_methods.hpp"
#include "proxy/cache/store.hpp"
#include "tests/scenario/model/subject.hpp"

namespace model {

class RulesSubject : public Subject {
 public:
  RulesSubject();
  ~RulesSubject() override;
  Told ask(const Ask& ask, const Reaction& reaction, Seconds pause, int number) override;
  Seconds begin() override;

 private:
  struct Asked;  // a request in the form that the rules take
  using Held = proxy::cache::Ref<const proxy::cache::Entry>;

  Exchange exchange(const Ask& sent);
  void serve(const Asked& asked, const proxy::cache::Entry& entry, bool held = true);
  void refresh(Ask ask, const Held& stale);
  void fill(const Asked& asked, const Held& stale, const proxy::cache::Verdict& how, bool refresh);
  bool take_unmodified(const Asked& asked, const Exchange& got, const Held& stale, bool alone,
                       bool refresh);
  bool hand_on_unmodified(const Asked& asked, const Exchange& got);
  void take_whole(const Asked& asked, const Exchange& got, const Held& stale, bool refresh);
  void pass(const Asked& asked, const Held& stale);
  void apply_head(const Asked& asked, const Exchange& got);
  bool stand_in(const Asked& asked, const Exchange& got, const Held& stale);
  void keep_posted(const Asked& asked, const Exchange& got);
  void invalidate(int url);
  [[nodiscard]] proxy::cache::Time now() const;

  proxy::cache::Budget budget_;
  std::unique_ptr<proxy::cache::Store> store_;
  const Reaction* reaction_ = nullptr;
  int number_ = 0;
  Seconds now_ = 0, begun_ = 0;
  Told told_;
};

}  // namespace model

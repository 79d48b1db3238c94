// The real program on loopback, which uses the machine's clock. Its stories state the age of
// responses instead of waiting.
#pragma once

#include <memory>
#include <mutex>

#include "tests/scenario/model/subject.hpp"
#include "tests/support/client.hpp"
#include "tests/support/proxy_process.hpp"
#include "tests/support/scripted_origin.hpp"

namespace model {

class ProgramSubject : public Subject {
 public:
  ProgramSubject();
  Told ask(const Ask& ask, const Reaction& reaction, Seconds pause, int number) override;
  Seconds begin() override;

 private:
  support::Reply answer(const support::Request& request);
  [[nodiscard]] Fields outside(Fields fields) const;
  [[nodiscard]] Fields inside(const support::Fields& fields) const;
  support::Response request(const Ask& ask);
  void await_stored(const support::Response& response);

  std::mutex mutex_;  // guards the members that the origin's threads use, down to told_
  const Reaction* reaction_ = nullptr;
  int number_ = 0;
  Seconds begun_ = 0;
  std::string prefix_;  // so that each story has its own URLs
  Told told_;

  int stories_ = 0;
  int stored_ = 0;  // by the program's metric
  support::ScriptedOrigin origin_;
  support::ProxyProcess proxy_;
  std::unique_ptr<support::Client> client_;
};

}  // namespace model

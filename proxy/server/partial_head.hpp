// The head of a request while it arrives: what it takes of memory, and how fast it comes.
#pragma once

#include <optional>

#include "proxy/crowd/client_table.hpp"
#include "proxy/crowd/receipt_rate.hpp"
#include "proxy/wire/input.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

// Counts the memory of a head that has arrived in part. If all such heads together exceed
// limits.heads, has Relief cut some. A head that does not meet limits.least_rate over half of
// timeouts.head is cut. A head that arrives in one piece costs nothing here. Belongs to a session,
// and ends it by cut().
class PartialHead final : public HeadWatch {
 public:
  PartialHead(Worker& worker, SessionList::Item& session);

  // Between begin() and end(), the session waits for a head.
  void begin() { rate_.reset(); }
  void end() { memory_.set(0); }
  // The memory taken, since when.
  [[nodiscard]] Unread held() const;

 private:
  void incomplete(std::size_t bytes, std::size_t memory) override;
  [[nodiscard]] ReceiptRate::Met note(std::size_t bytes);

  Worker& worker_;
  SessionList::Item& session_;
  CountedBytes memory_;
  std::optional<ReceiptRate> rate_;  // since the first piece
  std::size_t bytes_ = 0;
  std::chrono::steady_clock::time_point begun_{};
  std::chrono::steady_clock::time_point last_{};  // time at which bytes came
};

}  // namespace proxy

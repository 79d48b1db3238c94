// Fields that outlive the message they were read from.
#pragma once

#include <string>

#include "proxy/http/fields.hpp"

namespace proxy::http {

// A copy of fields together with the text that they refer to. Immutable; does not move.
class OwnedFields {
 public:
  explicit OwnedFields(const Fields& original);
  OwnedFields(const OwnedFields&) = delete;
  OwnedFields& operator=(const OwnedFields&) = delete;

  const Fields& fields() const { return fields_; }

 private:
  std::string text_;
  Fields fields_;
};

}  // namespace proxy::http

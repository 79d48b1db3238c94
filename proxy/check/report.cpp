#include "proxy/check/report.hpp"

#include <ostream>

namespace proxy {

bool report(const Trial& trial, bool strict, std::ostream& out, std::ostream& err) {
  for (const auto& note : trial.notes) out << note << '\n';
  for (const auto& warning : trial.warnings) err << "warning: " << warning << '\n';
  const auto warnings = trial.warnings.size();
  if (warnings == 0) {
    out << "OK\n";
    return true;
  }
  out << (strict ? "not OK: " : "OK, but for ") << warnings
      << (warnings == 1 ? " warning\n" : " warnings\n");
  return !strict;
}

}  // namespace proxy

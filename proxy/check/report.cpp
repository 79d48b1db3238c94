#include "proxy/check/report.hpp"

#include <ostream>
#include <string>

#include "config/counted.hpp"

namespace proxy {
bool report(const Trial& trial, bool strict, std::ostream& out, std::ostream& err) {
  for (const auto& note : trial.notes) out << note << '\n';
  for (const auto& error : trial.errors) err << "error: " << error << '\n';
  for (const auto& warning : trial.warnings) err << "warning: " << warning << '\n';
  const auto errors = config::counted(trial.errors.size(), "error");
  const auto warnings = config::counted(trial.warnings.size(), "warning");
  const bool is_good = trial.errors.empty() && !(strict && !trial.warnings.empty());
  out << (is_good ? "OK" : "not OK: ");
  if (!trial.errors.empty()) out << errors << (trial.warnings.empty() ? "" : ", ");
  if (!trial.warnings.empty()) out << (is_good ? ", but for " : "") << warnings;
  out << '\n';
  return is_good;
}

}  // namespace proxy

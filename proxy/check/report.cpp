#include "proxy/check/report.hpp"

#include <ostream>
#include <string>

namespace proxy {
namespace {

std::string count(std::size_t number, const char* what) {
  return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

}  // namespace

bool report(const Trial& trial, bool strict, std::ostream& out, std::ostream& err) {
  for (const auto& note : trial.notes) out << note << '\n';
  for (const auto& error : trial.errors) err << "error: " << error << '\n';
  for (const auto& warning : trial.warnings) err << "warning: " << warning << '\n';
  const auto errors = count(trial.errors.size(), "error");
  const auto warnings = count(trial.warnings.size(), "warning");
  const bool is_good = trial.errors.empty() && !(strict && !trial.warnings.empty());
  out << (is_good ? "OK" : "not OK: ");
  if (!trial.errors.empty()) out << errors << (trial.warnings.empty() ? "" : ", ");
  if (!trial.warnings.empty()) out << (is_good ? ", but for " : "") << warnings;
  out << '\n';
  return is_good;
}

}  // namespace proxy

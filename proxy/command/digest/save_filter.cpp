#include "proxy/command/digest/save_filter.hpp"

#include "proxy/command/digest/any_digest.hpp"
#include "proxy/command/output_file.hpp"

namespace proxy::command {
namespace {

Existing existing_by(const SaveOptions& options) {
  return options.force ? Existing::replace : Existing::keep;
}

}  // namespace

Result<void> may_save(const SaveOptions& options) {
  return may_write(options.out, existing_by(options));
}

Result<int> save_filter(const digest::BloomFilter& filter, const SaveOptions& options,
                        const Streams& streams) {
  const bool salted = filter.shape().derivation == digest::Derivation::salted;
  const auto file = filter.save();
  const auto written = write_file(options.out, file, existing_by(options),
                                  salted ? FileAccess::owner : FileAccess::everybody);
  if (!written) return written.error();
  Report report;
  report.add("file", options.out).add(describe(filter, file.size()));
  return print(options.json ? report.json() : report.text(), streams);
}

}  // namespace proxy::command

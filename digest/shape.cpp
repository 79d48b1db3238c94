#include "digest/shape.hpp"

namespace digest {

std::string_view to_string(ShapeError error) {
  switch (error) {
    case ShapeError::no_bits:
      return "a filter needs at least one bit";
    case ShapeError::too_many_bits:
      return "the filter is larger than 512 MiB";
    case ShapeError::no_hashes:
      return "a filter needs at least one hash";
    case ShapeError::too_many_hashes:
      return "a filter has at most 32 hashes";
    case ShapeError::not_four_hashes:
      return "a filter in Squid's form has exactly 4 hashes";
    case ShapeError::uneven_slices:
      return "the slices of a partitioned filter are of one length";
    case ShapeError::not_partitioned:
      return "a filter in Squid's form is not partitioned";
    case ShapeError::unlike_shapes:
      return "the filters differ in shape";
    case ShapeError::wrong_length:
      return "the filter has another length than its shape asks for";
    case ShapeError::stray_bits:
      return "bits are set beyond the end of the filter";
  }
  return "unknown error";
}

boost::system::result<Shape, ShapeError> check(const Shape& shape) {
  if (shape.bits == 0) return ShapeError::no_bits;
  if (shape.bits > kMaxBits) return ShapeError::too_many_bits;
  if (shape.hashes == 0) return ShapeError::no_hashes;
  if (shape.hashes > kMaxHashes) return ShapeError::too_many_hashes;
  if (shape.derivation == Derivation::squid_words && shape.hashes != 4) {
    return ShapeError::not_four_hashes;
  }
  if (shape.layout == Layout::plain) return shape;
  if (shape.derivation == Derivation::squid_words) return ShapeError::not_partitioned;
  if (shape.bits % shape.hashes != 0) return ShapeError::uneven_slices;
  return shape;
}

}  // namespace digest

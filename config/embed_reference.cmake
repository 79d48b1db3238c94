# Writes the C++ source that holds the reference of the settings.
#   cmake -DINTO=OUT.cpp -DFILE=hearsay.json -P embed_reference.cmake
file(READ ${FILE} content)
file(WRITE ${INTO} "// Made from hearsay.json by embed_reference.cmake.
#include \"config/reference.hpp\"

namespace config {

std::string_view reference_text() {
  return R\"reference(${content})reference\";
}

}  // namespace config
")

#include "proxy/machine/descriptor.hpp"

#include <unistd.h>

namespace proxy::machine {

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

}  // namespace proxy::machine

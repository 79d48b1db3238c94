# Installs what names other installed files: the service, and the settings below /etc. Settings that
# exist already stay as they are.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(HEARSAY_ETC /etc)
else()
  set(HEARSAY_ETC ${CMAKE_INSTALL_PREFIX}/etc)
endif()
set(HEARSAY_BIN ${CMAKE_INSTALL_PREFIX}/bin)

set(units "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/systemd/system")
configure_file(${package_source}/hearsay.service.in ${units}/hearsay.service @ONLY
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
message(STATUS "Installing: ${units}/hearsay.service")

if(NOT EXISTS "$ENV{DESTDIR}${HEARSAY_ETC}/hearsay/hearsay.json")
  file(INSTALL ${package_source}/hearsay.json DESTINATION ${HEARSAY_ETC}/hearsay)
endif()
file(INSTALL ${package_source}/hearsay.logrotate DESTINATION ${HEARSAY_ETC}/logrotate.d
  RENAME hearsay)

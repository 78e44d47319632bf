# Installs the library, its headers, the command and the manifest; find_package(convoy) finds them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/convoy)

install(TARGETS convoy EXPORT convoy_targets)
if(TARGET convoy_cli)
  install(TARGETS convoy_cli)
endif()
install(DIRECTORY include/convoy DESTINATION include FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/convoy/dtype.inc DESTINATION include/convoy)
install(DIRECTORY manifest DESTINATION ${CMAKE_INSTALL_DATADIR}/convoy)

install(EXPORT convoy_targets NAMESPACE convoy:: DESTINATION ${config_folder})
write_basic_package_version_file(convoy-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES cmake/convoy-config.cmake ${PROJECT_BINARY_DIR}/convoy-config-version.cmake
        DESTINATION ${config_folder})

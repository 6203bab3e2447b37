# `cmake --install`: headers, one static library per room, the command, and what find_package(shardwise) needs.
# A consumer links shardwise::shardwise; what the libraries stand on is found again by shardwiseConfig.cmake.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/shardwise)
foreach(room ${SHARDWISE_ROOM_TARGETS})
  string(REGEX REPLACE "^shardwise_" "" short ${room})
  set_target_properties(${room} PROPERTIES EXPORT_NAME ${short})
endforeach()

install(TARGETS shardwise ${SHARDWISE_ROOM_TARGETS} EXPORT shardwise
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/shardwise DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT shardwise NAMESPACE shardwise:: FILE shardwiseTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/shardwiseConfig.cmake.in shardwiseConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(shardwiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shardwiseConfig.cmake ${PROJECT_BINARY_DIR}/shardwiseConfigVersion.cmake
        DESTINATION ${package_folder})
if(TARGET shardwise_cli)
  install(TARGETS shardwise_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

# The library: what all rooms below the program compile to, in one archive. Who links headrace::headrace, built in the same CMake project
# or installed, gets the public headers and the libraries that the archive needs, and no compiler options.
get_property(rooms GLOBAL PROPERTY HEADRACE_ROOMS)
list(REMOVE_ITEM rooms cli)
list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_OBJECTS:headrace_\\1>" OUTPUT_VARIABLE objects)
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/headrace/*.h ${PROJECT_SOURCE_DIR}/include/headrace/*.hpp)

add_library(headrace_library STATIC ${objects})
add_library(headrace::headrace ALIAS headrace_library)
set_target_properties(headrace_library PROPERTIES OUTPUT_NAME headrace EXPORT_NAME headrace LINKER_LANGUAGE CXX VERIFY_INTERFACE_HEADER_SETS ON)
target_sources(headrace_library PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers})
target_compile_features(headrace_library PUBLIC cxx_std_20)
target_link_libraries(headrace_library PRIVATE fmt::fmt PkgConfig::PCRE2 PkgConfig::UTF8PROC Threads::Threads ${CMAKE_DL_LIBS})
if(HEADRACE_SANITIZE)
  target_link_options(headrace_library PUBLIC -fsanitize=${HEADRACE_SANITIZE})
endif()

# What plugins are built against: headers alone.
add_library(headrace_plugin_headers INTERFACE)
add_library(headrace::plugin ALIAS headrace_plugin_headers)
set_target_properties(headrace_plugin_headers PROPERTIES EXPORT_NAME plugin)
target_include_directories(headrace_plugin_headers INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(headrace_plugin_headers INTERFACE cxx_std_17)

# Each public header is compiled on its own, so that none leans on what another includes.
if(HEADRACE_TESTS)
  add_custom_target(headrace_headers ALL)
  add_dependencies(headrace_headers headrace_library_verify_interface_header_sets)
endif()

if(NOT HEADRACE_LIBRARY)
  set_target_properties(headrace_library PROPERTIES EXCLUDE_FROM_ALL ON)  # still there for who links it in this project
  return()
endif()

# find_package(headrace), and pkg-config's headrace.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/headrace)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/headraceConfig.cmake.in ${PROJECT_BINARY_DIR}/package/headraceConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/headraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH prefix_from_pkgconfig /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/headrace.pc.in ${PROJECT_BINARY_DIR}/package/headrace.pc @ONLY)

install(TARGETS headrace_library EXPORT headrace COMPONENT library FILE_SET HEADERS COMPONENT library)
install(TARGETS headrace_plugin_headers EXPORT headracePlugin COMPONENT library)
install(EXPORT headracePlugin NAMESPACE headrace:: FILE headracePluginTargets.cmake DESTINATION ${package} COMPONENT library)
install(EXPORT headrace NAMESPACE headrace:: FILE headraceTargets.cmake DESTINATION ${package} COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/package/headraceConfig.cmake ${PROJECT_BINARY_DIR}/package/headraceConfigVersion.cmake
  DESTINATION ${package} COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/package/headrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

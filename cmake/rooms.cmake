# shardwise_room(<path> DEPS <rooms> LIBS <targets> OPTIONS <compiler options>): one static library per room under src/,
# made of its .cc files that are not tests; and, when tests are built, one executable <room>_test of its *_test.cc files.
add_library(shardwise_development INTERFACE)
target_compile_options(shardwise_development INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -fvisibility-inlines-hidden
  $<$<BOOL:${SHARDWISE_WARNINGS_AS_ERRORS}>:-Werror>
  # Missing designated initializers are how options aggregates are meant to be used.
  -Wno-missing-field-initializers)
if(SHARDWISE_SANITIZE)
  add_compile_options(-fsanitize=${SHARDWISE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SHARDWISE_SANITIZE})
  if(SHARDWISE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # fences inside the standard library's shared_ptr
  endif()
endif()

# Tests are many, run for seconds and mostly instantiate matchers: compiling them dearly would be most of a build.
set(SHARDWISE_TEST_OPTIONS -O0)
if(SHARDWISE_SANITIZE MATCHES "undefined")
  list(APPEND SHARDWISE_TEST_OPTIONS -fno-sanitize=vptr,null,alignment,object-size)
endif()

function(shardwise_room path)
  cmake_parse_arguments(ROOM "" "" "DEPS;LIBS;OPTIONS" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  set(folder "${PROJECT_SOURCE_DIR}/src/${path}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cc")
  if(path STREQUAL "device")
    file(GLOB more CONFIGURE_DEPENDS "${folder}/*/*.cc")
    list(APPEND sources ${more})
  endif()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(deps ${ROOM_DEPS})
  list(TRANSFORM deps REPLACE "/" "_")
  list(TRANSFORM deps PREPEND shardwise_)
  # Headers alone, used by no header of ours: who links an installed shardwise needs not have them.
  list(TRANSFORM ROOM_LIBS REPLACE "^nlohmann_json::.*" "$<BUILD_INTERFACE:\\0>")

  if(NOT sources)
    add_library(shardwise_${name} INTERFACE)
    target_link_libraries(shardwise_${name} INTERFACE ${deps})
    set_property(GLOBAL APPEND PROPERTY SHARDWISE_ROOM_TARGETS shardwise_${name})
    return()
  endif()
  add_library(shardwise_${name} STATIC ${sources})
  target_include_directories(shardwise_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(shardwise_${name} PUBLIC cxx_std_20)
  target_compile_options(shardwise_${name} PRIVATE ${ROOM_OPTIONS})
  target_link_libraries(shardwise_${name}
    PUBLIC ${deps} Threads::Threads
    PRIVATE fmt::fmt ${ROOM_LIBS} $<BUILD_INTERFACE:shardwise_development>)
  set_property(GLOBAL APPEND PROPERTY SHARDWISE_ROOM_TARGETS shardwise_${name})

  if(SHARDWISE_BUILD_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name}_test PRIVATE shardwise_${name} fmt::fmt ${ROOM_LIBS} GTest::gmock_main
                                               shardwise_development)
    target_compile_options(${name}_test PRIVATE ${ROOM_OPTIONS} ${SHARDWISE_TEST_OPTIONS})
    gtest_discover_tests(${name}_test TEST_PREFIX "${path}." DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
  endif()
endfunction()

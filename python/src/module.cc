// The extension module shardwise._core.
#include "convert.h"

NB_MODULE(_core, m) {
  m.doc() = "The C++ library: meshes, layouts, checkpoints, plans and loads, in the words of its headers.";
  shardwise::python::bind_errors(m);
  shardwise::python::bind_mesh(m);
  shardwise::python::bind_checkpoint(m);
  shardwise::python::bind_random(m);
  shardwise::python::bind_plan(m);
  shardwise::python::bind_load(m);
}

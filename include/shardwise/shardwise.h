// shardwise: large-model weights straight into their shards. Reading order: open_checkpoint -> Catalog; DeviceMesh,
// LayoutMap -> Distribution; bind, make_plan -> LoadPlan; load -> ShardedArray.
#pragma once

#include "shardwise/bytes.h"
#include "shardwise/catalog.h"
#include "shardwise/checkpoint.h"
#include "shardwise/device.h"
#include "shardwise/dtype.h"
#include "shardwise/file.h"
#include "shardwise/fingerprint.h"
#include "shardwise/generator.h"
#include "shardwise/initializer.h"
#include "shardwise/layout.h"
#include "shardwise/load.h"
#include "shardwise/mesh.h"
#include "shardwise/placement.h"
#include "shardwise/plan.h"
#include "shardwise/random.h"
#include "shardwise/seed.h"
#include "shardwise/shape.h"
#include "shardwise/sharded_array.h"
#include "shardwise/status.h"
#include "shardwise/view.h"

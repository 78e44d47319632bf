// From a compiled-in configuration to a Launchable: build, and fill the arguments at each launch.
#pragma once

#include <memory>
#include <utility>

#include "jit/build.h"
#include "kernel/kernel.h"
#include "launch/module.h"

namespace convoy {

// Of one bound kernel. `arguments` sees the operands of each call; the rest is fixed by the plan.
template <class Args>
struct DeviceLaunch {
  ConvProblem problem;
  Config config;
  LaunchShape shape;
  Args (*arguments)(const ConvProblem&, const Config&, const RunArgs&);
  DeviceFunction function = {};
};

template <class Args>
Result<Launchable> bind_launch(const Device& device, const Source& source, Views views,
                               DeviceLaunch<Args> launch) {
  Result<Module> module = build(device, source);
  if (!module) return module.status();
  Result<DeviceFunction> function =
      module->function(source.entry.c_str(), launch.shape.shared_bytes);
  if (!function) return function.status();
  launch.function = *std::move(function);
  const auto run = [](const void* state, const RunArgs& operands, const void*, Stream stream) {
    const auto& bound = *static_cast<const DeviceLaunch<Args>*>(state);
    const Args args = bound.arguments(bound.problem, bound.config, operands);
    return bound.function.launch(bound.shape, &args, sizeof args, stream);
  };
  return Launchable{
      .state = std::make_shared<DeviceLaunch<Args>>(std::move(launch)), .views = views, .run = run};
}

}  // namespace convoy

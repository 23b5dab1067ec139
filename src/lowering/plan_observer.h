// Looks at runs of a plan, on the thread that runs them. Where there is none, it costs nothing.
#pragma once

#include "device/device.h"

namespace headrace {

// Between begin_run and end_run each step, by its number in Plan::steps(), passes before() and after(). A run that fails has no end.
class PlanObserver : public LaunchObserver {
 public:
  virtual void begin_run() {}
  void before(size_t /*step*/, const Launch&) override {}
  void after(size_t /*step*/, const Launch&) override {}
  virtual void end_run() {}
};

}  // namespace headrace

#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>

namespace rules_executorch {

// Ignores all events of the runtime. A subclass takes those that it needs.
class SilentTracer : public executorch::runtime::EventTracer {
 public:
  void create_event_block(const char*) override {}
  executorch::runtime::EventTracerEntry start_profiling(const char*, executorch::runtime::ChainID,
                                                        executorch::runtime::DebugHandle) override {
    return {};
  }
  executorch::runtime::EventTracerEntry start_profiling_delegate(const char*,
                                                                 executorch::runtime::DelegateDebugIntId) override {
    return {};
  }
  void end_profiling_delegate(executorch::runtime::EventTracerEntry, const void*, size_t) override {}
  void log_profiling_delegate(const char*, executorch::runtime::DelegateDebugIntId, et_timestamp_t, et_timestamp_t,
                              const void*, size_t) override {}
  void end_profiling(executorch::runtime::EventTracerEntry) override {}
  void track_allocation(executorch::runtime::AllocatorID, size_t) override {}
  executorch::runtime::AllocatorID track_allocator(const char*) override { return 0; }
  executorch::runtime::Result<bool> log_evalue(const executorch::runtime::EValue&,
                                               executorch::runtime::LoggedEValueType) override {
    return true;
  }
  executorch::runtime::Result<bool> log_intermediate_output_delegate(const char*,
                                                                     executorch::runtime::DelegateDebugIntId,
                                                                     const executorch::aten::Tensor&) override {
    return true;
  }
  executorch::runtime::Result<bool> log_intermediate_output_delegate(
      const char*, executorch::runtime::DelegateDebugIntId,
      const executorch::aten::ArrayRef<executorch::aten::Tensor>) override {
    return true;
  }
  executorch::runtime::Result<bool> log_intermediate_output_delegate(const char*,
                                                                     executorch::runtime::DelegateDebugIntId,
                                                                     const int&) override {
    return true;
  }
  executorch::runtime::Result<bool> log_intermediate_output_delegate(const char*,
                                                                     executorch::runtime::DelegateDebugIntId,
                                                                     const bool&) override {
    return true;
  }
  executorch::runtime::Result<bool> log_intermediate_output_delegate(const char*,
                                                                     executorch::runtime::DelegateDebugIntId,
                                                                     const double&) override {
    return true;
  }
  void set_delegation_intermediate_output_filter(executorch::runtime::EventTracerFilterBase*) override {}
};

}  // namespace rules_executorch

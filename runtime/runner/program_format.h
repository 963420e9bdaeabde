#pragma once

namespace rules_executorch {

// The field numbers of program.fbs, from the first field of each table. Newer versions append fields.
enum ProgramField {
  kProgramVersion,
  kProgramExecutionPlan,
  kProgramConstantBuffer,
  kProgramBackendDelegateData,
  kProgramSegments,
  kProgramConstantSegment,
  kProgramMutableDataSegments,
  kProgramNamedData,
};
enum BufferField { kBufferStorage };
enum BackendDelegateInlineDataField { kBackendDelegateInlineDataData };
enum SubsegmentOffsetsField { kSubsegmentOffsetsSegmentIndex, kSubsegmentOffsetsOffsets };
enum NamedDataField { kNamedDataKey, kNamedDataSegmentIndex };
enum ExecutionPlanField {
  kExecutionPlanName,
  kExecutionPlanContainerMetaType,
  kExecutionPlanValues,
  kExecutionPlanInputs,
  kExecutionPlanOutputs,
  kExecutionPlanChains,
  kExecutionPlanOperators,
  kExecutionPlanDelegates,
  kExecutionPlanNonConstBufferSizes,
  kExecutionPlanNonConstBufferDevice,
};
enum NonConstBufferDeviceField { kNonConstBufferDeviceBufferIdx, kNonConstBufferDeviceDeviceType };
enum ChainField { kChainInputs, kChainOutputs, kChainInstructions };
enum InstructionField { kInstructionInstrArgsType, kInstructionInstrArgs };
enum KernelCallField { kKernelCallOpIndex, kKernelCallArgs };
enum DelegateCallField { kDelegateCallDelegateIndex, kDelegateCallArgs };
enum MoveCallField { kMoveCallMoveFrom, kMoveCallMoveTo };
enum JumpFalseCallField { kJumpFalseCallCondValueIndex, kJumpFalseCallDestinationInstruction };
enum OperatorField { kOperatorName, kOperatorOverload };
enum BackendDelegateField { kBackendDelegateId, kBackendDelegateProcessed, kBackendDelegateCompileSpecs };
enum BackendDelegateDataReferenceField { kBackendDelegateDataReferenceLocation, kBackendDelegateDataReferenceIndex };
enum CompileSpecField { kCompileSpecKey, kCompileSpecValue };
enum EValueField { kEValueValType, kEValueVal };
// A field that all kinds of lists have.
enum ListField { kTensorListItems };
enum StringField { kStringStringVal };
enum TensorField {
  kTensorScalarType,
  kTensorStorageOffset,
  kTensorSizes,
  kTensorDimOrder,
  kTensorRequiresGrad,
  kTensorDataBufferIdx,
  kTensorAllocationInfo,
  kTensorLayout,
  kTensorShapeDynamism,
  kTensorExtraTensorInfo,
};
enum AllocationDetailsField {
  kAllocationDetailsMemoryId,
  kAllocationDetailsMemoryOffsetLow,
  kAllocationDetailsMemoryOffsetHigh,
};
enum ExtraTensorInfoField {
  kExtraTensorInfoMutableDataSegmentsIdx,
  kExtraTensorInfoFullyQualifiedName,
  kExtraTensorInfoLocation,
};

// The kinds of values and of instructions.
enum ValueKind {
  kValueNONE,
  kValueNull,
  kValueInt,
  kValueBool,
  kValueDouble,
  kValueTensor,
  kValueString,
  kValueIntList,
  kValueDoubleList,
  kValueBoolList,
  kValueTensorList,
  kValueOptionalTensorList,
};
enum InstructionKind {
  kInstructionNONE,
  kInstructionKernelCall,
  kInstructionDelegateCall,
  kInstructionMoveCall,
  kInstructionJumpFalseCall,
  kInstructionFreeCall,
};

}  // namespace rules_executorch

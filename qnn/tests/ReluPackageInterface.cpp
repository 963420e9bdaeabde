// An interface in the form that qnn-op-package-generator gives sources: the SDK's headers alone bring std::array and
// std::string, and the provider is visible by default.

#include "HTP/QnnHtpCommon.h"
#include "HTP/core/constraints.h"
#include "HTP/core/op_package_feature_support.h"
#include "HTP/core/op_register_ext.h"
#include "HTP/core/optimize.h"
#include "HTP/core/simple_reg.h"
#include "HTP/core/unique_types.h"
#include "QnnOpPackage.h"
#include "QnnSdkBuildId.h"

DEFINE_UNIQ_TY()
BEGIN_PKG_OPS_OPTS_LIST()
DECLARE_PKG_OPS_OPTS_LIST(PKG_MyRelu)
END_PKG_OPS_OPTS_LIST()

static constexpr auto package_name = THIS_PKG_NAME_STR;
static std::array<const char*, 1> op_names{{"MyRelu"}};
static Qnn_ApiVersion_t api_version = QNN_HTP_API_VERSION_INIT;
static QnnOpPackage_Info_t package_info = QNN_OP_PACKAGE_INFO_INIT;
static QnnOpPackage_GlobalInfrastructure_t global_infrastructure = nullptr;
static bool is_initialized = false;
static QnnLog_Callback_t log_callback = nullptr;
static QnnLog_Level_t max_log_level = (QnnLog_Level_t)0;

INIT_PACKAGE_OP_DEF()
INIT_PACKAGE_OPTIMIZATION_DEF()
INIT_PACKAGE_PARAM_ORDER_DEF()
LIST_PACKAGE_AXIS_PARAMS("axis", "Axis")
LIST_PACKAGE_PER_CHANNEL_QUANTIZED_OPS("MyRelu")
INIT_PKG_CORE_INIT_FUNC()

Qnn_ErrorHandle_t ReluPackageInit(QnnOpPackage_GlobalInfrastructure_t infrastructure) {
  if (is_initialized) return QNN_OP_PACKAGE_ERROR_LIBRARY_ALREADY_INITIALIZED;
  REGISTER_PACKAGE_PARAM_ORDERS()
  REGISTER_PACKAGE_AXIS_PARAMS()
  REGISTER_PACKAGE_PER_CHANNEL_QUANTIZED_OPS()
  global_infrastructure = infrastructure;
  is_initialized = true;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t ReluPackageGetInfo(const QnnOpPackage_Info_t** info) {
  if (!is_initialized) return QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED;
  if (!info) return QNN_OP_PACKAGE_ERROR_INVALID_INFO;
  package_info = QNN_OP_PACKAGE_INFO_INIT;
  package_info.packageName = package_name;
  package_info.operationNames = op_names.data();
  package_info.numOperations = op_names.size();
  package_info.sdkBuildId = QNN_SDK_BUILD_ID;
  package_info.sdkApiVersion = &api_version;
  *info = &package_info;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t ReluPackageLogInitialize(QnnLog_Callback_t callback, QnnLog_Level_t level) {
  if (!callback || level < QNN_LOG_LEVEL_ERROR) return QNN_LOG_ERROR_INVALID_ARGUMENT;
  log_callback = callback;
  max_log_level = level;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t ReluPackageLogSetLevel(QnnLog_Level_t level) {
  max_log_level = level;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t ReluPackageLogTerminate() {
  log_callback = nullptr;
  max_log_level = (QnnLog_Level_t)0;
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t ReluPackageValidateOpConfig(Qnn_OpConfig_t config) {
  if (std::string(package_name) != config.v1.packageName || std::string(config.v1.typeName) != "MyRelu" ||
      config.v1.numOfParams != 0 || config.v1.numOfInputs != 1 || config.v1.numOfOutputs != 1) {
    return QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE;
  }
  return QNN_SUCCESS;
}

Qnn_ErrorHandle_t ReluPackageTerminate() {
  if (!is_initialized) return QNN_OP_PACKAGE_ERROR_LIBRARY_NOT_INITIALIZED;
  global_infrastructure = nullptr;
  is_initialized = false;
  return QNN_SUCCESS;
}

#ifdef __cplusplus
extern "C" {
#endif

Qnn_ErrorHandle_t ReluPackageInterfaceProvider(QnnOpPackage_Interface_t* interface) {
  if (!interface) return QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT;
  interface->interfaceVersion = {1, 4, 0};
  interface->v1_4.init = ReluPackageInit;
  interface->v1_4.terminate = ReluPackageTerminate;
  interface->v1_4.getInfo = ReluPackageGetInfo;
  interface->v1_4.validateOpConfig = ReluPackageValidateOpConfig;
  interface->v1_4.createOpImpl = nullptr;
  interface->v1_4.freeOpImpl = nullptr;
  interface->v1_4.logInitialize = ReluPackageLogInitialize;
  interface->v1_4.logSetLevel = ReluPackageLogSetLevel;
  interface->v1_4.logTerminate = ReluPackageLogTerminate;
  return QNN_SUCCESS;
}

#ifdef __cplusplus
}
#endif

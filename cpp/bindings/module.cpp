// The extension module fastpu._core: each function below is defined in the file of its name.
#include <pybind11/pybind11.h>

namespace fastpu {

namespace py = pybind11;

void bind_isa(py::module_& module);  // common/team_of_call.cpp
void bind_random(py::module_& module);
void bind_binned_features(py::module_& module);
void bind_fingerprint(py::module_& module);
void bind_tiled_blas(py::module_& module);
void bind_kernel(py::module_& module);
void bind_trees(py::module_& module);
void bind_forest(py::module_& module);
void bind_boosted_trees(py::module_& module);
void bind_early_stopping(const py::module_& module);
void bind_stump_boost(py::module_& module);
void bind_stump_ensemble(py::module_& module);
void bind_tree_loss(py::module_& module);
void bind_svm(py::module_& module);
void bind_large_margin(const py::module_& module);
void bind_upu(py::module_& module);
void bind_nnpu(py::module_& module);
void bind_knn_graph(py::module_& module);
void bind_pual(const py::module_& module);
void bind_svm_path(py::module_& module);

}  // namespace fastpu

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.attr("__version__") = FASTPU_VERSION;
  fastpu::bind_isa(module);
  fastpu::bind_random(module);
  fastpu::bind_binned_features(module);
  fastpu::bind_fingerprint(module);
  fastpu::bind_tiled_blas(module);
  fastpu::bind_kernel(module);
  fastpu::bind_trees(module);
  fastpu::bind_forest(module);
  fastpu::bind_boosted_trees(module);
  fastpu::bind_early_stopping(module);
  fastpu::bind_stump_boost(module);
  fastpu::bind_stump_ensemble(module);
  fastpu::bind_tree_loss(module);
  fastpu::bind_svm(module);
  fastpu::bind_large_margin(module);
  fastpu::bind_upu(module);
  fastpu::bind_nnpu(module);
  fastpu::bind_knn_graph(module);
  fastpu::bind_pual(module);
  fastpu::bind_svm_path(module);
}

// The extension's table of contents.
#include <pybind11/pybind11.h>

namespace fastpu {
// NOLINTBEGIN(readability-redundant-declaration): of a unity build, the file may hold the definitions already
void bind_binned_features(pybind11::module_& module);
void bind_boosted_rows(const pybind11::module_& module);
void bind_boosted_trees(pybind11::module_& module);
void bind_forest(pybind11::module_& module);
void bind_hull_distance(const pybind11::module_& module);
void bind_kernel(pybind11::module_& module);
void bind_knn_graph(pybind11::module_& module);
void bind_large_margin(const pybind11::module_& module);
void bind_nnpu(pybind11::module_& module);
void bind_pual(const pybind11::module_& module);
void bind_stump_boost(pybind11::module_& module);
void bind_stump_ensemble(pybind11::module_& module);
void bind_stump_rows(const pybind11::module_& module);
void bind_svm(pybind11::module_& module);
void bind_svm_path(pybind11::module_& module);
void bind_tiled_blas(pybind11::module_& module);
void bind_tree_loss(const pybind11::module_& module);
void bind_trees(pybind11::module_& module);
void bind_upu(pybind11::module_& module);
// NOLINTEND(readability-redundant-declaration)
}  // namespace fastpu

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.attr("__version__") = FASTPU_VERSION;
  fastpu::bind_binned_features(module);
  fastpu::bind_boosted_rows(module);
  fastpu::bind_boosted_trees(module);
  fastpu::bind_forest(module);
  fastpu::bind_hull_distance(module);
  fastpu::bind_kernel(module);
  fastpu::bind_knn_graph(module);
  fastpu::bind_large_margin(module);
  fastpu::bind_nnpu(module);
  fastpu::bind_pual(module);
  fastpu::bind_stump_boost(module);
  fastpu::bind_stump_ensemble(module);
  fastpu::bind_stump_rows(module);
  fastpu::bind_svm(module);
  fastpu::bind_svm_path(module);
  fastpu::bind_tiled_blas(module);
  fastpu::bind_tree_loss(module);
  fastpu::bind_trees(module);
  fastpu::bind_upu(module);
}

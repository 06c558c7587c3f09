# The sources of the core and of the bindings, by room. A test compares these lists with the folders.

# ---- The core ----
set(FASTPU_CORE_SOURCES
    cpp/src/boosting/boost_loss.cpp
    cpp/src/boosting/boost_state.cpp
    cpp/src/boosting/boosted_trees.cpp
    cpp/src/boosting/eval_auc.cpp
    cpp/src/boosting/local_boosted_rows.cpp
    cpp/src/boosting/local_stump_rows.cpp
    cpp/src/boosting/logistic_losses.cpp
    cpp/src/boosting/pnu_auc_loss.cpp
    cpp/src/boosting/stump_boost.cpp
    cpp/src/boosting/stump_ensemble.cpp
    cpp/src/boosting/stump_search.cpp
    cpp/src/boosting/tree_loss.cpp
    cpp/src/common/aligned_buffer.cpp
    cpp/src/common/isa.cpp
    cpp/src/common/parallel.cpp
    cpp/src/data/bin_features.cpp
    cpp/src/data/binned_features.cpp
    cpp/src/data/fingerprint.cpp
    cpp/src/forest/forest.cpp
    cpp/src/kernels/dense_kernel.cpp
    cpp/src/kernels/kernel.cpp
    cpp/src/kernels/kernel_cache.cpp
    cpp/src/kernels/sparse_kernel.cpp
    cpp/src/knn/knn_blocks.cpp
    cpp/src/knn/knn_graph.cpp
    cpp/src/knn/knn_sparse.cpp
    cpp/src/knn/knn_tree.cpp
    cpp/src/linalg/blas.cpp
    cpp/src/linalg/cholesky.cpp
    cpp/src/linalg/elbow_factor.cpp
    cpp/src/linalg/row_pass.cpp
    cpp/src/linalg/tiled_blas.cpp
    cpp/src/path/elbow.cpp
    cpp/src/path/path_polish.cpp
    cpp/src/path/path_rows.cpp
    cpp/src/path/path_start.cpp
    cpp/src/path/path_watch.cpp
    cpp/src/path/svm_path.cpp
    cpp/src/pual/box_gram.cpp
    cpp/src/pual/box_interior_point.cpp
    cpp/src/pual/pual.cpp
    cpp/src/risk/nnpu.cpp
    cpp/src/risk/upu.cpp
    cpp/src/svm/active_set.cpp
    cpp/src/svm/bagging_svm.cpp
    cpp/src/svm/coordinate_descent.cpp
    cpp/src/svm/free_step.cpp
    cpp/src/svm/iadmm.cpp
    cpp/src/svm/interior_point.cpp
    cpp/src/svm/large_margin.cpp
    cpp/src/svm/margin_data.cpp
    cpp/src/svm/margin_task.cpp
    cpp/src/svm/near_rows.cpp
    cpp/src/svm/optimal_intercept.cpp
    cpp/src/svm/pair_solver.cpp
    cpp/src/svm/smo.cpp
    cpp/src/svm/smo_linear.cpp
    cpp/src/svm/svm.cpp
    cpp/src/svm/svm_grid.cpp
    cpp/src/tree/draw_bag.cpp
    cpp/src/tree/grown_tree.cpp
    cpp/src/tree/newton_rows.cpp
    cpp/src/tree/newton_search.cpp
    cpp/src/tree/newton_tree.cpp
    cpp/src/tree/out_of_bag.cpp
    cpp/src/tree/tree_features.cpp
    cpp/src/tree/tree_nodes.cpp
    cpp/src/tree/tree_scores.cpp
)

# Hot loops: each file is compiled once for every instruction-set level, and one level is chosen at run time.
set(FASTPU_KERNEL_SOURCES
    cpp/src/boosting/stump_kernels.cpp
    cpp/src/boosting/tree_loss_kernels.cpp
    cpp/src/kernels/svm_kernels.cpp
    cpp/src/knn/distance_kernels.cpp
    cpp/src/linalg/row_kernels.cpp
    cpp/src/linalg/triangle_kernels.cpp
    cpp/src/linalg/vector_kernels.cpp
    cpp/src/risk/net_kernels.cpp
    cpp/src/svm/point_kernels.cpp
    cpp/src/tree/code_kernels.cpp
    cpp/src/tree/newton_kernels.cpp
)

# Another such file. What it computes only says where exact numbers are wanted: multiply-adds may be fused, which halves
# its time.
set(FASTPU_FUSED_SOURCES
    cpp/src/knn/distance_filter.cpp
)

# ---- The bindings ----
# module.cpp comes first: it declares what the others define, and several files are compiled as one.
set(FASTPU_BINDING_SOURCES
    cpp/bindings/module.cpp
    cpp/bindings/boosting/bind_boosted_trees.cpp
    cpp/bindings/boosting/bind_stump_boost.cpp
    cpp/bindings/boosting/bind_stump_ensemble.cpp
    cpp/bindings/boosting/bind_tree_loss.cpp
    cpp/bindings/common/team_of_call.cpp
    cpp/bindings/data/bind_binned_features.cpp
    cpp/bindings/data/bind_fingerprint.cpp
    cpp/bindings/forest/bind_forest.cpp
    cpp/bindings/kernels/bind_kernel.cpp
    cpp/bindings/knn/bind_knn_graph.cpp
    cpp/bindings/linalg/bind_tiled_blas.cpp
    cpp/bindings/path/bind_svm_path.cpp
    cpp/bindings/pual/bind_pual.cpp
    cpp/bindings/risk/bind_nnpu.cpp
    cpp/bindings/risk/bind_upu.cpp
    cpp/bindings/svm/bind_large_margin.cpp
    cpp/bindings/svm/bind_svm.cpp
    cpp/bindings/tree/bind_trees.cpp
)

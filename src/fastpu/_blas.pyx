# cython: language_level=3, freethreading_compatible=True
"""The only Cython file: hands SciPy's BLAS and LAPACK to the C++ core as a table of function pointers.

Nothing of fastpu links a BLAS. Cython compares SciPy's signatures with those that this file was compiled for when it
is imported, and refuses if they differ, so that a SciPy with other integers cannot be called wrongly. From here on the
signatures are ours: arguments by value and const where SciPy passes pointers.
"""
from cpython.pycapsule cimport PyCapsule_New
from scipy.linalg cimport cython_blas, cython_lapack


cdef extern from "fastpu/linalg/blas.hpp" namespace "fastpu" nogil:
    cdef cppclass BlasTable:
        void (*dgemm)(char, char, int, int, int, double, const double*, int, const double*, int, double, double*, int)
        void (*dsyrk)(char, char, int, int, double, const double*, int, double, double*, int)
        void (*dgemv)(char, int, int, double, const double*, int, const double*, int, double, double*, int)
        void (*dtrsm)(char, char, char, char, int, int, double, const double*, int, double*, int)
        void (*dpotrf)(char, int, double*, int, int*)

    const char* kBlasCapsule


cdef void _dgemm(char trans_a, char trans_b, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc) noexcept nogil:
    cython_blas.dgemm(&trans_a, &trans_b, &m, &n, &k, &alpha, <double*>a, &lda, <double*>b, &ldb, &beta, c, &ldc)


cdef void _dsyrk(char uplo, char trans, int n, int k, double alpha, const double* a, int lda, double beta, double* c,
                 int ldc) noexcept nogil:
    cython_blas.dsyrk(&uplo, &trans, &n, &k, &alpha, <double*>a, &lda, &beta, c, &ldc)


cdef void _dgemv(char trans, int m, int n, double alpha, const double* a, int lda, const double* x, int inc_x,
                 double beta, double* y, int inc_y) noexcept nogil:
    cython_blas.dgemv(&trans, &m, &n, &alpha, <double*>a, &lda, <double*>x, &inc_x, &beta, y, &inc_y)


cdef void _dtrsm(char side, char uplo, char trans, char diag, int m, int n, double alpha, const double* a, int lda,
                 double* b, int ldb) noexcept nogil:
    cython_blas.dtrsm(&side, &uplo, &trans, &diag, &m, &n, &alpha, <double*>a, &lda, b, &ldb)


cdef void _dpotrf(char uplo, int n, double* a, int lda, int* info) noexcept nogil:
    cython_lapack.dpotrf(&uplo, &n, a, &lda, info)


cdef BlasTable _table
_table.dgemm = _dgemm
_table.dsyrk = _dsyrk
_table.dgemv = _dgemv
_table.dtrsm = _dtrsm
_table.dpotrf = _dpotrf

table = PyCapsule_New(&_table, kBlasCapsule, NULL)

"""Nearest neighbours, and the methods that use them: PUAL and GLLC, and BLS-SVM, which is GLLC without neighbours."""

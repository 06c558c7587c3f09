"""Nearest neighbours, and the methods that use them: PUAL, GLLC, and their relative without neighbours, BLS-SVM."""

"""Large-margin iterations: ISVM, IPSI and BPSI."""

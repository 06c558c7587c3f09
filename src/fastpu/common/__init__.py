"""What every room uses: wording, warnings, checks of single values, threads, progress."""

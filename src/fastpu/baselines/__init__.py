"""Methods that papers compare with, and that nobody should reach for first."""

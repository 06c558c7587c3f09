"""Slow, obvious reference implementations; each fast kernel is tested against one of these."""

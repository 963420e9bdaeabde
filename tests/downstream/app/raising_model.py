"""A model file with a mistake in it."""


def get_model() -> None:
    """Raises."""
    raise ValueError("no checkpoint here")

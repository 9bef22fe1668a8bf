"""Plain English from packages that anyone can get, as sentences for a model to parse."""

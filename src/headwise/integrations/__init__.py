"""A place in other people's pipelines; each module needs the library it is named after."""

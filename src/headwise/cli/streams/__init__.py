"""What goes into `headwise parse` and what comes out: arguments, files, formats, progress."""

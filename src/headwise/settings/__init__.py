"""Settings: one frozen struct for each concern. The defaults are the paper's, for English."""

"""Train the runs of a plan side by side, measure them, keep the results, and write a report.

    jobs        run commands side by side, resumable, until all are done or the time is up
    plan        what a plan must answer: its runs, what each needs, its commands
    results     a finished run as a small JSON file
    tables      averages over seeds; tables in Markdown; the files of a report
    command     the flags, and the loop that runs everything that has no result yet

`bench.accuracy`, `bench.paper` and `bench.seeds` each add a plan, a measurement and a report. A
module imports only modules above it.
"""

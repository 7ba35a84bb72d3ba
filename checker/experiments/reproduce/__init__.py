"""The papers' experiments, made again.

    plan = EXPERIMENTS["000-fig6"].plan(scale, seed)
    findings = EXPERIMENTS["000-fig6"].conclude({job.name: job.run() for job in plan})

`experiment` says what an experiment is, `catalogue` has them by name and makes their runs, `report` writes what came of
them. The experiments themselves belong to protocols (`Wing.experiments`).
"""

import LocalRun

import ArgumentParser

SimulationCommand.main()

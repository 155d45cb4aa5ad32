SimulationCommand.main()

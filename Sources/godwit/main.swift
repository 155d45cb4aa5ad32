import GodwitCommands

GodwitCommand.main()

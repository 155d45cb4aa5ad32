/// A slot whose jobs misbehave as their run's name asks, and the parents that tests kill.
///
/// `faulty-slot slot …` is a slot, and `faulty-slot work …` a worker of such slots.
/// `faulty-slot parent` starts two slots, gives one a job without end, writes the process ids and
/// waits for its input's end. `faulty-slot cycles N` starts and stops slots N times and writes how
/// many descriptors and children it has gained.
import Glibc

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "slot": FaultySlot.serve(Array(arguments.dropFirst()))
case "work": try FaultyWorker.run(Array(arguments.dropFirst()))
case "parent": try SlotParent.run()
case "cycles": try SlotParent.cycle(Int(arguments.last ?? "") ?? 1)
default: exit(64)
}

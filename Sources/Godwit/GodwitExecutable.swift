import GodwitCommands
import MigrationEngine

/// The `godwit` command line with policies of an app.
public enum GodwitExecutable {
    /// Runs the command that the process was started with, and ends the process.
    ///
    /// It has all commands of `godwit`: `migrate` and `work` start worker processes from the same
    /// executable, which carry the policies.
    ///
    /// - Parameter policies: types whose class names mapping models use; no two have one name.
    public static func main(policies: [any MigrationPolicy.Type]) {
        let names = Set(policies.map { $0.className })
        precondition(names.count == policies.count, "two policies have one class name")
        GodwitCommand.main(carrying: PolicyLibrary(policies.map { $0.entry }))
    }
}

package import CommandSupport
import Foundation
package import MappingModel
import MigrationEngine

/// What migration policies an executable carries.
package enum WorkerPolicies {
    /// The policies of worker processes.
    ///
    /// - Parameter command: the executable of the processes; nil for this one.
    /// - Returns: what they say of themselves.
    /// - Throws: `CommandFailure` with status 64 for an executable that cannot be asked.
    package static func declarations(
        of command: String?
    ) throws(CommandFailure) -> [PolicyDeclaration] {
        guard let command else { return CarriedPolicies.all.declarations }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: command)
        process.arguments = ["policies", "--json"]
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        do {
            try process.run()
            let text = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
            return try JSONDecoder().decode([PolicyDeclaration].self, from: text)
        } catch {
            throw .usage(
                "--worker-command: \(command) policies --json did not list its policies. Give "
                    + "godwit or an executable with the same commands")
        }
    }
}

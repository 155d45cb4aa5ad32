/// Which module may import which: the layers of the design, as a table.
enum LayerRules {
    /// The modules of this package and of others that each target may import.
    static let allowed: [String: Set<String>] = [
        "CLinux": [], "CZlib": [], "CZeroMQ": [], "CSQLite": [], "CTransportPeer": [],
        "Threads": ["CLinux"],
        "DurableFiles": ["CLinux"],
        "StoreLocks": ["DurableFiles", "CLinux"],
        "ZeroMQ": ["CZeroMQ", "CLinux", "Threads"],
        "Jobs": [],
        "ManagedObjectModel": ["Crypto"],
        "ModelFiles": ["ManagedObjectModel", "CZlib"],
        "MappingModel": ["ManagedObjectModel", "Yams"],
        "SafeSQLite": ["DurableFiles", "CSQLite", "GRDB", "GRDBSQLite"],
        "CoreDataStore": [
            "SafeSQLite", "ModelFiles", "ManagedObjectModel", "StoreLocks", "DurableFiles", "Jobs",
            "Crypto",
        ],
        "StoreSwap": ["SafeSQLite", "CoreDataStore", "StoreLocks", "DurableFiles", "Jobs"],
        "StoreDiscovery": ["StoreSwap", "SafeSQLite", "CoreDataStore", "DurableFiles"],
        "StoreFileChecks": [
            "SafeSQLite", "CoreDataStore", "ModelFiles", "ManagedObjectModel", "DurableFiles",
        ],
        "MigrationValidation": [
            "StoreFileChecks", "Jobs", "SafeSQLite", "CoreDataStore", "MappingModel",
            "ManagedObjectModel", "DurableFiles", "GRDBSQLite",
        ],
        "MigrationPlanning": [
            "Jobs", "SafeSQLite", "CoreDataStore", "MappingModel", "ManagedObjectModel",
            "DurableFiles", "GRDB",
        ],
        "MigrationEngine": [
            "MigrationPlanning", "Jobs", "SafeSQLite", "CoreDataStore", "MappingModel",
            "ManagedObjectModel", "DurableFiles", "GRDB",
        ],
        "RunLedger": ["Jobs", "DurableFiles", "CSQLite", "GRDB", "GRDBSQLite"],
        "RunService": [
            "RunLedger", "StoreDiscovery", "StoreSwap", "StoreFileChecks", "MigrationValidation",
            "MigrationPlanning", "MigrationEngine", "SafeSQLite", "CoreDataStore", "MappingModel",
            "ModelFiles", "ManagedObjectModel", "StoreLocks", "DurableFiles", "Jobs", "Threads",
        ],
        "ClusterProtocol": ["Jobs", "SwiftProtobuf"],
        "ClusterCore": ["Jobs", "ClusterProtocol"],
        "Coordinator": [
            "ClusterCore", "ClusterProtocol", "RunService", "StoreDiscovery", "RunLedger",
            "MigrationPlanning", "MigrationEngine", "SafeSQLite", "DurableFiles", "Jobs", "Threads",
            "ZeroMQ",
        ],
        "LocalCluster": [
            "Coordinator", "Worker", "RunService", "ClusterCore", "ClusterProtocol", "RunLedger",
            "MigrationPlanning", "MigrationEngine", "SafeSQLite", "DurableFiles", "Jobs", "Threads",
            "ZeroMQ",
        ],
        "Worker": [
            "ClusterCore", "ClusterProtocol", "MigrationPlanning", "MigrationEngine", "SafeSQLite",
            "DurableFiles", "Jobs", "Threads", "ZeroMQ", "CLinux",
        ],
        "ClusterSimulation": ["ClusterCore", "ClusterProtocol", "Jobs"],
        "godwit-sim": ["ClusterSimulation", "ArgumentParser"],
        "StoreForge": [
            "SafeSQLite", "CoreDataStore", "ModelFiles", "ManagedObjectModel", "DurableFiles",
        ],
        "RunReports": [
            "RunService", "RunLedger", "StoreFileChecks", "MigrationValidation",
            "MigrationPlanning", "MigrationEngine", "SafeSQLite", "ManagedObjectModel",
            "DurableFiles", "ClusterCore", "Jobs",
        ],
        "ClusterClient": ["ClusterProtocol", "Jobs", "Threads", "ZeroMQ"],
        "GodwitCommands": [
            "RunReports", "ClusterClient", "LocalCluster", "RunService", "StoreDiscovery",
            "StoreSwap", "MigrationValidation", "Coordinator", "Worker", "ClusterCore",
            "ClusterProtocol", "ZeroMQ", "RunLedger", "MigrationPlanning", "MigrationEngine",
            "StoreForge", "SafeSQLite", "CoreDataStore", "MappingModel", "ModelFiles",
            "ManagedObjectModel", "StoreLocks", "DurableFiles", "Jobs", "Threads", "ArgumentParser",
            "Logging",
        ],
        "godwit": ["GodwitCommands"],
        "godwit-bench": [
            "LocalCluster", "RunService", "RunLedger", "MigrationPlanning", "StoreForge",
            "SafeSQLite", "CoreDataStore", "MappingModel", "ManagedObjectModel", "DurableFiles",
            "Jobs", "Threads", "ZeroMQ", "CTransportPeer", "Coordinator", "ClusterCore",
            "ClusterProtocol", "ArgumentParser", "GRDB",
        ],
    ]

    /// What comes with Swift and may be imported by every target but the two lowest.
    static let system: Set<String> = [
        "Swift", "Glibc", "Synchronization", "Foundation", "FoundationEssentials", "FoundationXML",
    ]
    /// Targets at the bottom, which stay free of Foundation, and the file that converts URLs.
    static let withoutFoundation: Set<String> = ["Threads", "Jobs", "DurableFiles", "StoreLocks"]
    static let foundationFiles: Set<String> = ["Sources/DurableFiles/FilePath+URL.swift"]

    static func check(_ code: Code) -> [Violation] {
        let parts = code.path.split(separator: "/").map(String.init)
        guard parts.count > 2, parts[0] == "Sources" else { return [] }
        let target = parts[1]
        guard let modules = allowed[target] else {
            let text = "the target \(target) is not in the table of layers"
            return [Violation(path: code.path, line: 1, text: text)]
        }
        let keepsFoundationOut =
            withoutFoundation.contains(target) && !foundationFiles.contains(code.path)
        return code.lines.indices.compactMap { index in
            guard let module = importedModule(code.lines[index]) else { return nil }
            if system.contains(module), !(keepsFoundationOut && module.hasPrefix("Foundation")) {
                return nil
            }
            if modules.contains(module) { return nil }
            let text = "\(target) may not import \(module)"
            return Violation(path: code.path, line: index + 1, text: text)
        }
    }

    /// The module of an import line: `@attribute package import struct Module.Name`.
    static func importedModule(_ line: String) -> String? {
        let words = line.split(separator: " ").filter { !$0.hasPrefix("@") }
        guard let place = words.firstIndex(of: "import"), place <= 1, place + 1 < words.count else {
            return nil
        }
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let"]
        let named = kinds.contains(words[place + 1]) ? place + 2 : place + 1
        guard named < words.count else { return nil }
        return words[named].split(separator: ".").first.map(String.init)
    }
}

/// Which module may import which: the layers of the design, as a table.
enum LayerRules {
    /// The modules of this package and of others that each target may import.
    static let allowed: [String: Set<String>] = [
        "CLinux": [],
        "DurableFiles": ["CLinux"],
        "StoreLocks": ["DurableFiles", "CLinux"],
        "Threads": ["CLinux"],
        "ZeroMQ": ["Threads", "CLinux", "CZeroMQ"],
        "Jobs": [],
        "RunLedger": ["Jobs", "DurableFiles", "CSQLite", "GRDB", "GRDBSQLite"],
        "ManagedObjectModel": ["Crypto"],
        "ModelFiles": ["ManagedObjectModel", "CZlib"],
        "MappingExpressions": ["ManagedObjectModel"],
        "ExpressionEvaluation": ["MappingExpressions", "ManagedObjectModel"],
        "MappingInference": [
            "MappingModel", "ExpressionEvaluation", "MappingExpressions", "ManagedObjectModel",
        ],
        "MigrationPlans": [
            "MappingModel", "ExpressionEvaluation", "MappingExpressions", "ManagedObjectModel",
            "CoreDataStore", "SafeSQLite", "Jobs", "GRDB", "DurableFiles",
        ],
        "ModelCommands": [
            "MigrationEngine", "StoreRuns", "SafeSQLite", "RunReports", "ModelFiles",
            "MigrationPlans", "MigrationPlanning", "MappingModel", "MappingInference",
            "MappingFiles", "MappingExpressions", "ManagedObjectModel", "DurableFiles",
            "CoreDataStore", "CommandSupport", "ArgumentParser",
        ],
        "StateFolders": [
            "Threads", "StoreSwap", "StoreLocks", "SafeSQLite", "RunLedger", "MigrationValidation",
            "MigrationPlans", "MigrationEngine", "MappingModel", "MappingInference",
            "ManagedObjectModel", "DurableFiles", "CoreDataStore", "Jobs",
        ],
        "MappingModel": ["MappingExpressions", "ManagedObjectModel"],
        "MappingFiles": [
            "MappingInference", "MappingModel", "MappingExpressions", "ModelFiles",
            "ManagedObjectModel", "Yams",
        ],
        "SafeSQLite": ["DurableFiles", "CSQLite", "GRDB", "GRDBSQLite"],
        "StorePages": ["SafeSQLite", "DurableFiles"],
        "CoreDataStore": [
            "SafeSQLite", "ModelFiles", "ManagedObjectModel", "Jobs", "StoreLocks", "DurableFiles",
            "Crypto",
        ],
        "StoreSwap": ["CoreDataStore", "SafeSQLite", "Jobs", "StoreLocks", "DurableFiles"],
        "StoreFileChecks": [
            "CoreDataStore", "StorePages", "SafeSQLite", "ModelFiles", "ManagedObjectModel",
            "DurableFiles", "Threads",
        ],
        "ValidationScans": [
            "ExpressionEvaluation", "StoreFileChecks", "CoreDataStore", "StorePages", "SafeSQLite",
            "MappingModel", "MappingExpressions", "ManagedObjectModel", "Jobs", "DurableFiles",
            "GRDBSQLite",
        ],
        "MigrationValidation": [
            "ValidationScans", "StoreFileChecks", "CoreDataStore", "StorePages", "SafeSQLite",
            "MappingModel", "ManagedObjectModel", "Jobs", "DurableFiles",
        ],
        "MigrationPlanning": [
            "GRDB", "MigrationPlans", "MappingInference", "CoreDataStore", "SafeSQLite",
            "MappingModel", "MappingExpressions", "ManagedObjectModel", "DurableFiles",
        ],
        "PageWriting": [
            "MigrationPlans", "CoreDataStore", "SafeSQLite", "MappingModel", "ManagedObjectModel",
            "DurableFiles", "Threads",
        ],
        "ShardPages": [
            "PageWriting", "MigrationPlans", "CoreDataStore", "SafeSQLite", "DurableFiles",
        ],
        "MigrationEngine": [
            "ExpressionEvaluation", "MigrationPlans", "ShardPages", "PageWriting", "CoreDataStore",
            "StorePages", "SafeSQLite", "ModelFiles", "MappingModel", "MappingExpressions",
            "ManagedObjectModel",
            "Jobs", "DurableFiles", "GRDB",
        ],
        "StoreImport": [
            "MigrationPlans", "ExpressionEvaluation", "CoreDataStore", "SafeSQLite",
            "MappingExpressions", "ModelFiles", "ManagedObjectModel", "Threads", "DurableFiles",
            "Crypto",
        ],
        "StoreDiscovery": ["StoreSwap", "SafeSQLite", "DurableFiles"],
        "StoreRuns": [
            "StateFolders", "MigrationPlans", "MappingInference", "MigrationEngine",
            "MigrationPlanning", "MigrationValidation", "ValidationScans", "StoreFileChecks",
            "ShardPages", "StoreSwap", "CoreDataStore", "SafeSQLite", "MappingModel", "ModelFiles",
            "ManagedObjectModel", "RunLedger", "Jobs", "Threads", "StoreLocks", "DurableFiles",
        ],
        "RunMoves": [
            "StateFolders", "MigrationPlans", "StoreRuns", "StoreDiscovery", "MigrationEngine",
            "StoreSwap", "CoreDataStore", "SafeSQLite", "ManagedObjectModel", "RunLedger", "Jobs",
            "StoreLocks", "DurableFiles",
        ],
        "RunService": [
            "MappingInference", "StateFolders", "MigrationPlans", "RunMoves", "StoreRuns",
            "StoreDiscovery", "MigrationEngine", "MigrationPlanning", "MigrationValidation",
            "ValidationScans", "StoreFileChecks", "StoreSwap", "CoreDataStore", "SafeSQLite",
            "MappingModel", "ManagedObjectModel", "RunLedger", "Jobs", "StoreLocks", "DurableFiles",
        ],
        "ClusterProtocol": ["Jobs", "SwiftProtobuf"],
        "Worker": [
            "MigrationPlans", "WorkerRules", "ClusterVocabulary", "ClusterProtocol",
            "MigrationEngine", "SafeSQLite", "Jobs", "ZeroMQ", "Threads", "DurableFiles", "CLinux",
        ],
        "Coordinator": [
            "StateFolders", "MigrationPlans", "RunSupervision", "ClusterCore", "ClusterVocabulary",
            "ClusterProtocol", "RunService", "RunMoves", "StoreRuns", "StoreDiscovery",
            "MigrationEngine", "SafeSQLite", "RunLedger", "Jobs", "ZeroMQ", "Threads",
            "DurableFiles",
        ],
        "LocalCluster": [
            "StateFolders", "MigrationPlans", "WorkerRules", "ClusterCore", "ClusterVocabulary",
            "Coordinator", "Worker", "ClusterProtocol", "RunService", "StoreRuns",
            "MigrationEngine", "CoreDataStore", "SafeSQLite", "RunLedger", "Jobs", "ZeroMQ",
            "Threads", "DurableFiles",
        ],
        "ClusterVocabulary": ["ClusterProtocol", "Jobs"],
        "ClusterTables": ["ClusterVocabulary", "ClusterProtocol", "Jobs"],
        "ClusterCore": ["ClusterTables", "ClusterVocabulary", "ClusterProtocol", "Jobs"],
        "RunSupervision": [
            "ClusterCore", "ClusterTables", "ClusterVocabulary", "ClusterProtocol", "Jobs",
        ],
        "WorkerRules": ["ClusterTables", "ClusterVocabulary", "ClusterProtocol", "Jobs"],
        "ClusterSimulation": [
            "WorkerRules", "RunSupervision", "ClusterCore", "ClusterTables", "ClusterVocabulary",
            "ClusterProtocol", "Jobs",
        ],
        "StoreForge": [
            "CoreDataStore", "SafeSQLite", "ModelFiles", "ManagedObjectModel", "DurableFiles",
        ],
        "RunReports": [
            "MigrationPlans", "MappingInference", "RunService", "StoreRuns", "MigrationEngine",
            "MigrationValidation", "StoreFileChecks", "SafeSQLite", "MappingModel",
            "ManagedObjectModel", "RunLedger", "Jobs", "DurableFiles",
        ],
        "ClusterClient": ["ClusterProtocol", "Jobs", "ZeroMQ", "Threads"],
        "CommandSupport": [
            "StateFolders", "MigrationPlans", "MappingInference", "ClusterClient", "RunReports",
            "Worker", "ClusterProtocol", "RunService", "StoreRuns", "MigrationEngine", "StoreSwap",
            "CoreDataStore", "SafeSQLite", "MappingModel", "ManagedObjectModel", "RunLedger",
            "Jobs", "ZeroMQ", "Threads", "DurableFiles", "ArgumentParser", "Logging",
        ],
        "RunCommands": [
            "MappingExpressions", "StateFolders", "ModelCommands", "MigrationPlans",
            "CommandSupport", "ClusterClient", "RunReports", "ClusterCore", "LocalCluster",
            "Coordinator", "Worker", "ClusterProtocol", "RunService", "RunMoves", "StoreRuns",
            "StoreDiscovery", "MigrationEngine", "MigrationValidation", "CoreDataStore",
            "SafeSQLite", "MappingModel", "ManagedObjectModel", "RunLedger", "Jobs", "StoreLocks",
            "DurableFiles", "ArgumentParser", "Logging",
        ],
        "GodwitCommands": [
            "StateFolders", "ModelCommands", "MigrationValidation", "MigrationPlans", "StoreImport",
            "RunCommands", "CommandSupport", "ClusterClient", "RunReports", "StoreForge",
            "WorkerRules", "ClusterCore", "ClusterVocabulary", "LocalCluster", "Coordinator",
            "Worker", "ClusterProtocol", "RunService", "StoreRuns", "MigrationEngine",
            "CoreDataStore", "SafeSQLite", "MappingModel", "ModelFiles", "ManagedObjectModel",
            "RunLedger", "Jobs", "ZeroMQ", "Threads", "StoreLocks", "DurableFiles",
            "ArgumentParser", "Logging",
        ],
        "Godwit": ["GodwitCommands", "MigrationEngine", "MappingModel", "ManagedObjectModel"],
        "godwit": ["GodwitCommands"],
        "godwit-sim": ["ClusterSimulation", "ArgumentParser"],
        "godwit-bench": [
            "StateFolders", "MigrationPlans", "CTransportPeer", "StoreForge", "ClusterVocabulary",
            "LocalCluster", "Coordinator", "ClusterProtocol", "RunService", "StoreRuns",
            "MigrationEngine", "CoreDataStore", "SafeSQLite", "ManagedObjectModel", "RunLedger",
            "Jobs", "ZeroMQ", "Threads", "DurableFiles", "ArgumentParser", "GRDB",
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

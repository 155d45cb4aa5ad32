// swift-tools-version: 6.2
import PackageDescription

/// What every target is compiled with: explicit `any`, imports that are internal unless said
/// otherwise, members only from modules that the file imports, and no warning left standing.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let yaml: Target.Dependency = .product(name: "Yams", package: "Yams")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

/// What a target depends on.
typealias Targets = [Target.Dependency]
/// What mappings are made of.
let mapping: Targets = ["MappingModel", "MappingExpressions", "ManagedObjectModel"]
/// What validation stands on.
let proof: Targets =
    mapping + [
        "StoreFileChecks", "CoreDataStore", "StorePages", "SafeSQLite", "Jobs", "DurableFiles",
    ]
/// What runs of migrations stand on.
let engine: Targets = ["MigrationEngine", "MigrationPlans", "CoreDataStore", "SafeSQLite"]
/// What a coordinator's own part of runs stands on.
let runs: Targets =
    engine + mapping + [
        "RunService", "StoreRuns", "StateFolders", "MigrationValidation", "ValidationScans",
        "MappingInference", "RunLedger", "DurableFiles", "Jobs",
    ]
/// What the state machines of clusters say to each other.
let cluster: Targets = ["ClusterVocabulary", "ClusterProtocol", "Jobs"]
/// What tests of stores need.
let storeTests: Targets = [
    "FaultSupport", "TestSupport", "StoreForge", "MigrationPlans", "CoreDataStore", "SafeSQLite",
    "MappingInference", "MappingModel", "MappingExpressions", "ModelFiles", "ManagedObjectModel",
    "Jobs", "DurableFiles",
]
/// What tests of runs and clusters may import.
let runTests: Targets =
    runs + [
        "GodwitCommands", "RunCommands", "ModelCommands", "CommandSupport", "ClusterClient",
        "RunReports", "StoreForge", "WorkerRules", "RunSupervision", "ClusterCore", "LocalCluster",
        "Coordinator", "Worker", "RunMoves", "StoreDiscovery", "MigrationPlanning", "MappingFiles",
        "StoreFileChecks", "StoreSwap", "ExpressionEvaluation", "ModelFiles", "ZeroMQ", "Threads",
        "StoreLocks", "ClusterVocabulary", "ClusterProtocol",
    ]

/// A library target; `LayerRules` of the tidy tests names what each may import.
func layer(_ name: String, _ dependencies: Targets = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// The tests of one layer.
func tests(_ name: String, _ dependencies: Targets) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "godwit",
    products: [
        .executable(name: "godwit", targets: ["godwit"]),
        .library(name: "Godwit", targets: ["Godwit"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    ],
    targets: [
        // System modules: zlib, libzmq, and a small C shim for what Glibc does not show to Swift.
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZeroMQ", providers: [.apt(["libzmq3-dev"])]),
        .target(name: "CLinux"),
        // A shim for SQLite's variadic calls, which Swift cannot make (decision 0002).
        .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        // Files that survive a crash: clone, publish, fsync, space, identity; places of stores.
        layer("DurableFiles", ["CLinux"]),
        // Locks and leases on stores, which keep other runs and every client out.
        layer("StoreLocks", ["DurableFiles", "CLinux"]),
        // Threads that we own.
        layer("Threads", ["CLinux"]),
        // Sockets, frames, CURVE keys, and the one thread that owns them (decision 0010).
        layer("ZeroMQ", ["Threads", "CLinux", "CZeroMQ"]),
        // The job vocabulary as values.
        layer("Jobs"),
        // The durable truth of the runs of one state folder.
        layer("RunLedger", ["Jobs", "DurableFiles", "CSQLite", grdb, sqlite]),
        // Model values, version hashes, predicates, diff.
        layer("ManagedObjectModel", [crypto]),
        // Model files: readers of every form, archive writer, property lists.
        layer("ModelFiles", ["ManagedObjectModel", "CZlib"]),
        // Expressions and predicates of mapping models, and their text.
        layer("MappingExpressions", ["ManagedObjectModel"]),
        // What expressions and predicates give for an object.
        layer("ExpressionEvaluation", ["MappingExpressions", "ManagedObjectModel"]),
        // Mappings as values.
        layer("MappingModel", ["MappingExpressions", "ManagedObjectModel"]),
        // Deriving, completing, checking and joining mappings.
        layer("MappingInference", mapping + ["ExpressionEvaluation"]),
        // Mapping files: readers of every form, the YAML writer.
        layer("MappingFiles", mapping + ["MappingInference", "ModelFiles", yaml]),
        // SQLite on files of strangers: guarded connections, statements, schemas, pages.
        layer("SafeSQLite", ["DurableFiles", "CSQLite", grdb, sqlite]),
        // The pages of databases, read without SQLite (decision 0040).
        layer("StorePages", ["SafeSQLite", "DurableFiles"]),
        // SQL layout of a model; open, snapshot, inspect and create stores.
        layer(
            "CoreDataStore",
            [
                "SafeSQLite", "ModelFiles", "ManagedObjectModel", "Jobs", "StoreLocks",
                "DurableFiles", crypto,
            ]),
        // Swapping a result in, putting the original back, removing it: plans and their execution.
        layer("StoreSwap", ["CoreDataStore", "SafeSQLite", "Jobs", "StoreLocks", "DurableFiles"]),
        // Checks of files beyond their rows: pages, header, schema, metadata, files of its data.
        layer(
            "StoreFileChecks",
            [
                "CoreDataStore", "StorePages", "SafeSQLite", "ModelFiles", "ManagedObjectModel",
                "DurableFiles", "Threads",
            ]),
        // What validation reads of both files, row by row, and the rules that it holds them to.
        layer("ValidationScans", proof + ["ExpressionEvaluation", sqlite]),
        // Proof that a result is what its source must become, by code of its own.
        layer("MigrationValidation", proof + ["ValidationScans"]),
        // How a store is migrated, as values and files, and the SQL of computed values.
        layer(
            "MigrationPlans",
            mapping + [
                "ExpressionEvaluation", "CoreDataStore", "SafeSQLite", "Jobs", "DurableFiles", grdb,
            ]),
        // Surveying stores and deciding how they are migrated.
        layer(
            "MigrationPlanning",
            mapping + [
                "MigrationPlans", "MappingInference", "CoreDataStore", "SafeSQLite", "DurableFiles",
                grdb,
            ]),
        // The pages of databases, written without SQLite (decisions 0041 and 0044).
        layer(
            "PageWriting",
            mapping + ["MigrationPlans", "CoreDataStore", "SafeSQLite", "DurableFiles", "Threads"]),
        // Groups of rows by UUID, and their shards, merged page by page (decision 0049).
        layer(
            "ShardPages",
            ["PageWriting", "MigrationPlans", "CoreDataStore", "SafeSQLite", "DurableFiles"]),
        // Copying, merging, linking by a plan: synchronous functions over files.
        layer(
            "MigrationEngine",
            mapping + [
                "ExpressionEvaluation", "ShardPages", "PageWriting", "MigrationPlans",
                "CoreDataStore", "StorePages", "SafeSQLite", "ModelFiles", "Jobs", "DurableFiles",
                grdb,
            ]),
        // Filling a store from numbered part files, in batches that survive a crash.
        layer(
            "StoreImport",
            [
                "MigrationPlans", "CoreDataStore", "SafeSQLite", "ExpressionEvaluation",
                "MappingExpressions", "ModelFiles", "ManagedObjectModel", "Threads",
                "DurableFiles", crypto,
            ]),
        // Finding the stores that paths, patterns and lists name.
        layer("StoreDiscovery", ["StoreSwap", "SafeSQLite", "DurableFiles"]),
        // The folder of runs, their room, what they get from outside, and their error.
        layer(
            "StateFolders",
            engine + [
                "MigrationValidation", "StoreSwap", "MappingInference", "MappingModel",
                "ManagedObjectModel", "RunLedger", "Jobs", "Threads", "StoreLocks", "DurableFiles",
            ]),
        // One store of a run: the request, its preparation, its result, and the run's records.
        layer(
            "StoreRuns",
            proof + [
                "StateFolders", "MigrationPlanning", "MigrationEngine", "MigrationPlans",
                "MigrationValidation", "ValidationScans", "ShardPages", "StoreSwap",
                "MappingInference", "ModelFiles", "RunLedger", "Threads", "StoreLocks",
            ]),
        // Giving results their names, and the commands on results of earlier runs.
        layer(
            "RunMoves",
            engine + [
                "StateFolders", "StoreRuns", "StoreDiscovery", "StoreSwap", "ManagedObjectModel",
                "RunLedger", "Jobs", "StoreLocks", "DurableFiles",
            ]),
        // What a coordinator does itself for its runs, without a network.
        layer(
            "RunService",
            engine + [
                "MappingInference", "StateFolders", "MigrationPlanning", "RunMoves", "StoreRuns",
                "StoreDiscovery", "MigrationValidation", "ValidationScans", "StoreFileChecks",
                "StoreSwap", "MappingModel", "ManagedObjectModel", "RunLedger", "Jobs",
                "StoreLocks", "DurableFiles",
            ]),
        // What coordinator, workers, slots and clients say to each other.
        .target(
            name: "ClusterProtocol", dependencies: ["Jobs", protobuf], exclude: ["Protos"],
            swiftSettings: settings),
        // Slots as processes of their own.
        layer(
            "Worker",
            cluster + [
                "WorkerRules", "MigrationEngine", "MigrationPlans", "SafeSQLite", "ZeroMQ",
                "Threads", "DurableFiles", "CLinux",
            ]),
        // The loop over ledger and sockets, and the coordinator's own part of migrations.
        layer(
            "Coordinator",
            cluster + [
                "StateFolders", "RunSupervision", "ClusterCore", "RunService", "RunMoves",
                "StoreRuns", "StoreDiscovery", "MigrationEngine", "MigrationPlans", "SafeSQLite",
                "RunLedger", "ZeroMQ", "Threads", "DurableFiles",
            ]),
        // A coordinator and a worker of one process, for one run on this machine.
        layer(
            "LocalCluster",
            runs + [
                "WorkerRules", "ClusterCore", "ClusterVocabulary", "Coordinator", "Worker",
                "ClusterProtocol", "ZeroMQ", "Threads",
            ]),
        // What state machines of a cluster take and say: events, effects, records, settings.
        layer("ClusterVocabulary", ["ClusterProtocol", "Jobs"]),
        // What the coordinator's machine keeps of stores, runs, tasks, attempts and workers.
        layer("ClusterTables", cluster),
        // The coordinator as a pure state machine, and readings of its state.
        layer("ClusterCore", cluster + ["ClusterTables"]),
        // The lives of a coordinator's runs, around that machine.
        layer("RunSupervision", cluster + ["ClusterCore", "ClusterTables"]),
        // A worker as a pure state machine.
        layer("WorkerRules", cluster + ["ClusterTables"]),
        // Those machines under virtual time, with faults and checkers.
        layer(
            "ClusterSimulation",
            cluster + ["WorkerRules", "RunSupervision", "ClusterCore", "ClusterTables"]),
        // Stores in Core Data's format, of any size, from a seed.
        layer(
            "StoreForge",
            ["CoreDataStore", "SafeSQLite", "ModelFiles", "ManagedObjectModel", "DurableFiles"]),
        // Reports of runs for people and programs.
        layer(
            "RunReports",
            [
                "RunService", "StoreRuns", "MigrationEngine", "MigrationPlans",
                "MigrationValidation", "StoreFileChecks", "SafeSQLite", "MappingInference",
                "MappingModel", "ManagedObjectModel", "RunLedger", "Jobs", "DurableFiles",
            ]),
        // What a program needs to ask a coordinator and to follow its runs.
        layer("ClusterClient", ["ClusterProtocol", "Jobs", "ZeroMQ", "Threads"]),
        // What all commands share: the terminal, failures, logs, keys, the live view.
        layer(
            "CommandSupport",
            runs + [
                "ClusterClient", "RunReports", "Worker", "ClusterProtocol", "StoreSwap", "ZeroMQ",
                "Threads", arguments, logging,
            ]),
        // Models and mappings as arguments, and the commands on them.
        layer(
            "ModelCommands",
            runs + [
                "MigrationPlanning", "CommandSupport", "RunReports", "MappingFiles", "ModelFiles",
                arguments,
            ]),
        // The commands that migrate stores and manage runs, here or by a coordinator.
        layer(
            "RunCommands",
            runs + [
                "ModelCommands", "MigrationPlanning", "CommandSupport", "ClusterClient",
                "RunReports", "ClusterCore", "LocalCluster", "Coordinator", "Worker",
                "ClusterProtocol", "RunMoves", "StoreDiscovery", "MappingFiles", "ModelFiles",
                "StoreLocks", arguments, logging,
            ]),
        // The command line: all commands, and those of clusters, models and keys.
        layer(
            "GodwitCommands",
            runs + [
                "ModelCommands", "StoreImport", "RunCommands", "CommandSupport", "ClusterClient",
                "RunReports", "StoreForge", "WorkerRules", "ClusterCore", "ClusterVocabulary",
                "LocalCluster", "Coordinator", "Worker", "ClusterProtocol", "MappingFiles",
                "ModelFiles", "ZeroMQ", "Threads", "StoreLocks", arguments, logging,
            ]),
        .executableTarget(
            name: "godwit", dependencies: ["GodwitCommands"], swiftSettings: settings),
        // The public library: migration policies, and the command line that carries them.
        layer(
            "Godwit", ["GodwitCommands", "MigrationEngine", "MappingModel", "ManagedObjectModel"]),
        // What the transport is measured against, in C so that it carries nothing of ours.
        .target(name: "CTransportPeer", linkerSettings: [.linkedLibrary("zmq")]),
        .executableTarget(
            name: "godwit-sim", dependencies: ["ClusterSimulation", arguments],
            swiftSettings: settings),
        .executableTarget(
            name: "godwit-bench",
            dependencies: runs + [
                "CTransportPeer", "StoreForge", "ClusterVocabulary", "LocalCluster", "Coordinator",
                "ClusterProtocol", "ZeroMQ", "Threads", arguments, grdb,
            ], exclude: ["expert"], swiftSettings: settings),
        // Helpers of the tests: fixtures, temporary folders, seeded randomness.
        .target(
            name: "TestSupport", dependencies: ["StoreForge", "CoreDataStore", "DurableFiles"],
            path: "Tests/TestSupport", swiftSettings: settings),
        // Faults that validation must catch.
        .target(
            name: "FaultSupport",
            dependencies: [
                "TestSupport", "StoreForge", "MigrationEngine", "MigrationValidation",
                "ValidationScans", "CoreDataStore", "SafeSQLite", "ModelFiles",
                "ManagedObjectModel", "DurableFiles", sqlite,
            ], path: "Tests/FaultSupport", swiftSettings: settings),
        .target(
            name: "RunSupport", dependencies: runTests, path: "Tests/RunSupport",
            swiftSettings: settings),
        // Lets SQLite's own actions on files fail; it stands before the system's layer.
        .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
        // Notes every statement that SQLite runs.
        .target(name: "CStatementTrace", dependencies: ["CSQLite"], path: "Tests/CStatementTrace"),
        tests(
            "ManagedObjectModelTests", ["TestSupport", "ModelFiles", "ManagedObjectModel", grdb]),
        tests(
            "MappingModelTests",
            mapping + ["MappingInference", "TestSupport", "MappingFiles", "ModelFiles"]),
        tests(
            "MappingExpressionsTests",
            ["ExpressionEvaluation", "MappingExpressions", "ManagedObjectModel"]),
        tests("MappingFilesTests", mapping + ["TestSupport", "MappingFiles", "ModelFiles"]),
        tests(
            "CoreDataStoreTests",
            storeTests + [
                "MigrationEngine", "ShardPages", "PageWriting", "StorePages", "CSQLite", grdb,
                sqlite,
            ]),
        tests("StoreForgeTests", storeTests),
        tests("DurableFilesTests", ["TestSupport", "StoreLocks", "DurableFiles", "CLinux"]),
        tests("ThreadsTests", ["TestSupport", "Threads"]),
        tests("ZeroMQTests", ["TestSupport", "ZeroMQ", "Threads", "CLinux", "CZeroMQ"]),
        tests(
            "RunLedgerTests",
            ["TestSupport", "RunLedger", "Jobs", "Threads", "DurableFiles", grdb]),
        tests("MigrationPlanningTests", storeTests + ["MigrationPlanning"]),
        tests(
            "MigrationValidationTests",
            storeTests + ["MigrationValidation", "ValidationScans", "StoreFileChecks"]),
        tests("StoreImportTests", storeTests + ["StoreImport"]),
        .testTarget(
            name: "MigrationCases",
            dependencies: storeTests + ["godwit", "sample-policies"], path: "Tests/MigrationCases",
            swiftSettings: settings),
        tests("StoreDiscoveryTests", storeTests + ["StoreDiscovery"]),
        tests("StoreSwapTests", storeTests + ["StoreSwap", "StoreLocks"]),
        tests(
            "RunServiceTests",
            runTests + [
                "CStatementTrace", "CFaultVFS", "RunSupport", "FaultSupport", "TestSupport",
                "sample-policies", "Godwit", grdb,
            ]),
        tests("RunReportsTests", runTests),
        tests(
            "GodwitCommandsTests",
            runTests + [
                "FaultSupport", "TestSupport", "godwit", "CLinux", arguments, grdb, logging,
            ]),
        tests(
            "ClusterCoreTests",
            cluster + [
                "TestSupport", "WorkerRules", "RunSupervision", "ClusterCore", "ClusterTables",
            ]),
        tests("ClusterSimulationTests", ["ClusterSimulation", "ClusterVocabulary", "Jobs"]),
        tests("ClusterProtocolTests", ["TestSupport", "ClusterProtocol", "Jobs"]),
        // A slot whose jobs misbehave, and a parent of slots, for the tests to start.
        .executableTarget(
            name: "faulty-slot",
            dependencies: runTests + ["FaultSupport", "CLinux", grdb], path: "Tests/FaultySlot",
            swiftSettings: settings),
        .executableTarget(
            name: "sample-policies", dependencies: ["Godwit"], path: "Tests/SamplePolicies",
            swiftSettings: settings),
        tests(
            "WorkerTests",
            runTests + ["faulty-slot", "RunSupport", "TestSupport", "godwit", "CLinux"]),
        tests(
            "CoordinatorTests",
            runTests + [
                "faulty-slot", "RunSupport", "FaultSupport", "TestSupport", "godwit", "CLinux",
                "CZeroMQ", grdb,
            ]),
        tests("TidyTests", []),
    ]
)

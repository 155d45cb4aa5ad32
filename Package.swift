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
let arguments: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser")

/// A library target of the package with its layer's imports and nothing else.
func layer(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// The tests of one layer.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "godwit",
    products: [
        .executable(name: "godwit", targets: ["godwit"])
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    ],
    targets: [
        // System modules: zlib, libzmq, and a small C shim for what Glibc does not show to Swift.
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZeroMQ", providers: [.apt(["libzmq3-dev"])]),
        .target(name: "CLinux"),
        // A shim for SQLite's variadic calls, which Swift cannot make (decision 0002).
        .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),

        // Files that survive a crash: clone, publish, fsync, free space, identity.
        layer("DurableFiles", ["CLinux"]),
        // Locks and leases on stores, which keep other runs and every client out.
        layer("StoreLocks", ["DurableFiles", "CLinux"]),
        // Threads that we own.
        layer("Threads", ["CLinux"]),
        // Sockets, frames, CURVE keys, and the one thread that owns them (decision 0010).
        layer("ZeroMQ", ["CZeroMQ", "CLinux", "Threads"]),
        // The job vocabulary as values.
        layer("Jobs"),

        // The durable truth of the runs of one state folder.
        layer("RunLedger", ["Jobs", "DurableFiles", "CSQLite", grdb, sqlite]),

        // Model values, version hashes, predicates, diff.
        layer("ManagedObjectModel", [crypto]),
        // Model files: readers of every form, archive writer, property lists.
        layer("ModelFiles", ["ManagedObjectModel", "CZlib"]),
        // Mapping values and inference.
        layer("MappingModel", ["ManagedObjectModel"]),
        // SQLite on files of strangers: guarded connections, statements, schemas, pages.
        layer("SafeSQLite", ["DurableFiles", "CSQLite", grdb, sqlite]),
        // SQL layout of a model; open, snapshot, inspect and create stores.
        layer(
            "CoreDataStore",
            [
                "SafeSQLite", "ModelFiles", "ManagedObjectModel", "StoreLocks", "DurableFiles",
                "Jobs", crypto,
            ]),
        // Swapping a result in, putting the original back, removing it: plans and their execution.
        layer("StoreSwap", ["SafeSQLite", "CoreDataStore", "StoreLocks", "DurableFiles", "Jobs"]),
        // Checks of a result's file beyond its rows: header, schema, metadata, files of its data.
        layer(
            "StoreFileChecks",
            [
                "SafeSQLite", "CoreDataStore", "ModelFiles", "ManagedObjectModel", "DurableFiles",
            ]),
        // Proof that a result is what its source must become, by code of its own.
        layer(
            "MigrationValidation",
            [
                "StoreFileChecks", "Jobs", "SafeSQLite", "CoreDataStore", "MappingModel",
                "ManagedObjectModel", "DurableFiles", sqlite,
            ]),
        // Surveying stores and deciding how they are migrated: plans as values and files.
        layer(
            "MigrationPlanning",
            [
                "Jobs", "SafeSQLite", "CoreDataStore", "MappingModel", "ManagedObjectModel",
                "DurableFiles", grdb,
            ]),
        // Copying, merging, linking by a plan: synchronous functions over files.
        layer(
            "MigrationEngine",
            [
                "MigrationPlanning", "Jobs", "SafeSQLite", "CoreDataStore", "MappingModel",
                "ManagedObjectModel", "DurableFiles", grdb,
            ]),
        // Finding the stores that paths, patterns and lists name.
        layer("StoreDiscovery", ["StoreSwap", "SafeSQLite", "CoreDataStore", "DurableFiles"]),
        // Jobs of a run on slots of this machine, without a network.
        layer(
            "RunService",
            [
                "RunLedger", "StoreDiscovery", "StoreSwap", "StoreFileChecks",
                "MigrationValidation", "MigrationPlanning", "MigrationEngine", "SafeSQLite",
                "CoreDataStore", "MappingModel", "ModelFiles", "ManagedObjectModel", "StoreLocks",
                "DurableFiles", "Jobs", "Threads",
            ]),
        // What coordinator, workers, slots and clients say to each other.
        .target(
            name: "ClusterProtocol", dependencies: ["Jobs", protobuf], exclude: ["Protos"],
            swiftSettings: settings),
        // Slots as processes of their own.
        layer(
            "Worker",
            [
                "ClusterCore", "ClusterProtocol", "MigrationPlanning", "MigrationEngine",
                "SafeSQLite", "DurableFiles", "Jobs", "Threads", "ZeroMQ", "CLinux",
            ]),
        // The loop over ledger and sockets, and the coordinator's own part of migrations.
        layer(
            "Coordinator",
            [
                "ClusterCore", "ClusterProtocol", "RunService", "StoreDiscovery", "RunLedger",
                "MigrationPlanning", "MigrationEngine", "SafeSQLite", "DurableFiles", "Jobs",
                "Threads", "ZeroMQ",
            ]),
        // A coordinator and a worker of one process, for one run on this machine.
        layer(
            "LocalCluster",
            [
                "Coordinator", "Worker", "RunService", "ClusterCore", "ClusterProtocol",
                "RunLedger", "MigrationPlanning", "MigrationEngine", "SafeSQLite", "DurableFiles",
                "Jobs", "Threads", "ZeroMQ",
            ]),
        // Coordinator and worker as pure state machines.
        layer("ClusterCore", ["ClusterProtocol", "Jobs"]),
        // Those machines under virtual time, with faults and checkers.
        layer("ClusterSimulation", ["ClusterCore", "ClusterProtocol", "Jobs"]),
        // Stores in Core Data's format, of any size, from a seed.
        layer(
            "StoreForge",
            ["SafeSQLite", "CoreDataStore", "ModelFiles", "ManagedObjectModel", "DurableFiles"]),

        // Reports of runs for people and programs.
        layer(
            "RunReports",
            [
                "RunService", "RunLedger", "StoreFileChecks", "MigrationValidation",
                "MigrationPlanning", "MigrationEngine", "SafeSQLite", "ManagedObjectModel",
                "DurableFiles", "ClusterCore", "Jobs",
            ]),
        // What a program needs to ask a coordinator and to follow its runs.
        layer("ClusterClient", ["ClusterProtocol", "Jobs", "Threads", "ZeroMQ"]),
        // The command line.
        layer(
            "GodwitCommands",
            [
                "RunReports", "ClusterClient", "LocalCluster", "RunService", "StoreDiscovery",
                "StoreSwap", "MigrationValidation", "Coordinator", "Worker", "ClusterCore",
                "ClusterProtocol", "ZeroMQ", "RunLedger", "MigrationPlanning", "MigrationEngine",
                "StoreForge", "SafeSQLite", "CoreDataStore", "MappingModel", "ModelFiles",
                "ManagedObjectModel", "StoreLocks", "DurableFiles", "Jobs", "Threads", arguments,
                logging,
            ]),
        .executableTarget(
            name: "godwit", dependencies: ["GodwitCommands"], swiftSettings: settings),
        // What the transport is measured against, in C so that it carries nothing of ours.
        .target(name: "CTransportPeer", linkerSettings: [.linkedLibrary("zmq")]),
        // Simulations from seeds.
        .executableTarget(
            name: "godwit-sim", dependencies: ["ClusterSimulation", arguments],
            swiftSettings: settings),
        // The benchmarks.
        .executableTarget(
            name: "godwit-bench",
            dependencies: [
                "LocalCluster", "RunService", "MigrationPlanning", "StoreForge", "SafeSQLite",
                "CoreDataStore", "ManagedObjectModel", "DurableFiles", "Jobs", "RunLedger",
                "Threads", "ZeroMQ", "CTransportPeer", "Coordinator", "ClusterCore",
                "ClusterProtocol", arguments, grdb,
            ], exclude: ["expert"], swiftSettings: settings),

        // Helpers of the tests: fixtures, temporary folders, seeded randomness.
        .target(
            name: "TestSupport",
            dependencies: ["StoreForge", "CoreDataStore", "ManagedObjectModel", "DurableFiles"],
            path: "Tests/TestSupport", swiftSettings: settings),
        // Faults that validation must catch.
        .target(
            name: "FaultSupport",
            dependencies: [
                "MigrationValidation", "MigrationEngine", "SafeSQLite", "CoreDataStore",
                "ModelFiles", "ManagedObjectModel", "DurableFiles", "StoreForge", "TestSupport",
                grdb, sqlite,
            ], path: "Tests/FaultSupport", swiftSettings: settings),
        // Runs of tests, on threads.
        .target(
            name: "RunSupport",
            dependencies: [
                "LocalCluster", "RunService", "Coordinator", "ClusterCore", "ClusterProtocol",
                "RunLedger", "MigrationPlanning", "MigrationEngine", "SafeSQLite", "CoreDataStore",
                "DurableFiles", "Jobs",
            ], path: "Tests/RunSupport", swiftSettings: settings),
        // Lets SQLite's own actions on files fail; it stands before the system's layer.
        .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
        // Notes every statement that SQLite runs.
        .target(
            name: "CStatementTrace", dependencies: ["CSQLite"], path: "Tests/CStatementTrace"),
        tests(
            "ManagedObjectModelTests", ["ModelFiles", "ManagedObjectModel", "TestSupport", grdb]),
        tests("MappingModelTests", ["MappingModel", "ManagedObjectModel", "TestSupport"]),
        tests(
            "CoreDataStoreTests",
            [
                "SafeSQLite", "CoreDataStore", "ModelFiles", "ManagedObjectModel", "DurableFiles",
                "TestSupport", "FaultSupport", "CSQLite", sqlite,
            ]),
        tests(
            "StoreForgeTests",
            [
                "StoreForge", "SafeSQLite", "CoreDataStore", "MappingModel", "ModelFiles",
                "ManagedObjectModel", "DurableFiles", "FaultSupport", "TestSupport",
            ]),
        tests("DurableFilesTests", ["StoreLocks", "DurableFiles", "CLinux", "TestSupport"]),
        tests("ThreadsTests", ["Threads", "TestSupport"]),
        tests("ZeroMQTests", ["ZeroMQ", "CZeroMQ", "CLinux", "Threads", "TestSupport"]),
        tests(
            "RunLedgerTests",
            ["RunLedger", "Jobs", "DurableFiles", "Threads", "TestSupport", grdb]),
        tests(
            "MigrationPlanningTests",
            [
                "MigrationPlanning", "SafeSQLite", "CoreDataStore", "MappingModel", "DurableFiles",
                "Jobs", "StoreForge", "TestSupport",
            ]),
        tests(
            "MigrationValidationTests",
            [
                "StoreFileChecks", "MigrationValidation", "SafeSQLite", "CoreDataStore",
                "MappingModel", "ModelFiles", "ManagedObjectModel", "DurableFiles", "Jobs",
                "StoreForge", "FaultSupport", "TestSupport",
            ]),
        tests(
            "StoreDiscoveryTests",
            [
                "StoreDiscovery", "SafeSQLite", "CoreDataStore", "DurableFiles", "FaultSupport",
                "TestSupport",
            ]),
        tests(
            "StoreSwapTests",
            [
                "StoreSwap", "MigrationEngine", "SafeSQLite", "CoreDataStore", "ManagedObjectModel",
                "StoreLocks", "DurableFiles", "Jobs", "StoreForge", "FaultSupport", "TestSupport",
            ]),
        tests(
            "RunServiceTests",
            [
                "RunSupport", "RunReports", "StoreDiscovery", "StoreSwap", "StoreFileChecks",
                "MigrationValidation", "RunService", "ClusterProtocol", "GodwitCommands",
                "StoreForge", "MigrationPlanning", "MigrationEngine", "SafeSQLite", "CoreDataStore",
                "MappingModel", "ModelFiles", "ManagedObjectModel", "StoreLocks", "DurableFiles",
                "Jobs", "FaultSupport", "RunLedger", "CFaultVFS", "CStatementTrace", "TestSupport",
                grdb,
            ]),
        tests(
            "RunReportsTests",
            [
                "RunReports", "RunService", "StoreSwap", "StoreFileChecks", "MigrationValidation",
                "MigrationPlanning", "MigrationEngine", "CoreDataStore", "DurableFiles",
            ]),
        // These run the built program, too.
        tests(
            "GodwitCommandsTests",
            [
                "GodwitCommands", "godwit", "RunReports", "ClusterClient", "Worker", "RunService",
                "StoreDiscovery", "StoreSwap", "MigrationValidation", "MigrationPlanning",
                "SafeSQLite", "CoreDataStore", "MappingModel", "ModelFiles", "ManagedObjectModel",
                "DurableFiles", "RunLedger", "Threads", "StoreForge", "ClusterProtocol", "Jobs",
                "CLinux", "FaultSupport", "TestSupport", "ZeroMQ", arguments, grdb, logging,
            ]),
        tests("ClusterCoreTests", ["ClusterCore", "ClusterProtocol", "Jobs", "TestSupport"]),
        tests("ClusterSimulationTests", ["ClusterSimulation", "ClusterCore", "Jobs"]),
        tests("ClusterProtocolTests", ["ClusterProtocol", "Jobs", "TestSupport"]),
        // A slot whose jobs misbehave, and a parent of slots, for the tests to start.
        .executableTarget(
            name: "faulty-slot",
            dependencies: [
                "Worker", "ClusterCore", "ClusterProtocol", "RunService", "MigrationPlanning",
                "SafeSQLite", "DurableFiles", "Jobs", "ZeroMQ", "CLinux", "FaultSupport", grdb,
            ], path: "Tests/FaultySlot", swiftSettings: settings),
        tests(
            "WorkerTests",
            [
                "Worker", "faulty-slot", "godwit", "ClusterCore", "ClusterProtocol", "RunService",
                "RunLedger", "MigrationPlanning", "MigrationEngine", "SafeSQLite", "CoreDataStore",
                "ManagedObjectModel", "StoreLocks", "DurableFiles", "Jobs", "Threads", "ZeroMQ",
                "CLinux", "StoreForge", "RunSupport", "TestSupport",
            ]),
        tests(
            "CoordinatorTests",
            [
                "Coordinator", "faulty-slot", "godwit", "Worker", "ClusterCore", "ClusterProtocol",
                "StoreDiscovery", "StoreSwap", "RunService", "RunLedger", "MigrationPlanning",
                "MigrationEngine", "SafeSQLite", "CoreDataStore", "ManagedObjectModel",
                "DurableFiles", "Jobs", "Threads", "ZeroMQ", "CZeroMQ", "CLinux", "StoreForge",
                "FaultSupport", "RunSupport", "TestSupport", grdb,
            ]),
        tests("TidyTests", []),
    ]
)

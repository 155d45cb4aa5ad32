import Foundation
import GRDB
import TestSupport
import Testing

/// Chains whose steps run programs on the store, and have mappings of their own.
@Suite("Programs between steps") struct StepProgramTests {
    private let program = ProcessTests()

    /// The bundle's stores, a program that runs SQL on them, and a file of steps.
    private struct Lab {
        let folder: URL
        let bundle: NumberBundle

        init(_ folder: URL) throws {
            self.folder = folder
            bundle = try NumberBundle(folder)
            try write(
                "sql.sh",
                """
                #!/bin/sh
                # Applies the first argument to the store, which is the second.
                exec /usr/bin/sqlite3 "$2" "$1"
                """)
        }

        func write(_ name: String, _ text: String) throws {
            let place = folder.appendingPathComponent(name)
            try Data(text.utf8).write(to: place)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: place.path)
        }

        /// A file of steps, in which `SQL` stands for the program.
        func steps(_ lines: String) throws {
            let text = lines.replacingOccurrences(of: "SQL", with: "./sql.sh")
            try write("steps.yaml", "godwit-steps: 1\nsteps:\n" + text)
        }

        /// One step, after which a script of these lines runs.
        func script(_ name: String, _ lines: String) throws {
            try write(name, "#!/bin/sh\n\(lines)\n")
            try steps("  - {version: M 2, mapping: numbers.yaml, after: [./\(name)]}")
        }

        var way: [String] { ["--to", bundle.path, "--via", "steps.yaml"] }
    }

    private func titles(_ lab: Lab, _ name: String) throws -> [String?] {
        try DatabaseQueue(path: lab.folder.appendingPathComponent(name).path).read {
            try String?.fetchAll($0, sql: "SELECT ZTITLE FROM ZNOTE ORDER BY Z_PK")
        }
    }

    private static let chain = """
          - version: M 2
            mapping: numbers.yaml
            before: [SQL, "UPDATE ZNOTE SET ZTITLE = 'a' WHERE ZOLD IS NOT 'x'"]
            after: [SQL, "UPDATE ZNOTE SET ZTITLE = ZTITLE || ZFLAG || 'b'"]
          - version: M 3
            before: [SQL, "DELETE FROM ZNOTE WHERE Z_PK > 20"]
            after: [SQL, "UPDATE ZNOTE SET ZTITLE = ZTITLE || ZNUMBER"]
        """

    @Test(
        "each program sees the store of its step",
        arguments: [["--in-process"], ["--workers", "2"], ["--workers", "1", "--trust-workers"]])
    func everyProgramRuns(mode: [String]) throws {
        try withTemporaryFolder { folder in
            let lab = try Lab(folder)
            let store = try lab.bundle.makeStore("a.sqlite", notes: 30)
            let before = try Data(contentsOf: URL(fileURLWithPath: store))
            try lab.steps(Self.chain)
            let ended = try program.run(
                ["migrate", "a.sqlite", "--output", "out"] + lab.way + mode, in: folder)
            try #require(ended.status == 0, "\(ended.log)")
            let expected = (1...20).map { "a1b\($0 % 97)" }
            #expect(try titles(lab, "out/a.sqlite") == expected)
            #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
            let left = try FileManager.default.contentsOfDirectory(
                atPath: folder.appendingPathComponent("out").path)
            #expect(left.sorted() == [".godwit", "a.sqlite"])
            let report = try String(
                contentsOf: folder.appendingPathComponent("out/.godwit/runs/r1/report.json"),
                encoding: .utf8)
            #expect(
                report.contains("sql.sh and ./sql.sh: Note had 30 objects and has 20 now"),
                "\(report)")
            let verified = try program.run(
                ["verify", "a.sqlite", "out/a.sqlite"] + lab.way, in: folder)
            #expect(verified.status == 64 && verified.log.contains("./sql.sh runs between"))
        }
    }

    @Test("a store begins with the step that leads on from its version")
    func aLaterVersion() throws {
        try withTemporaryFolder { folder in
            let lab = try Lab(folder)
            _ = try lab.bundle.makeStore("a.sqlite", notes: 30)
            try lab.steps(Self.chain)
            let one = try program.run(
                ["migrate", "a.sqlite", "--output", "one", "--to", "\(lab.bundle.path):M 2"]
                    + ["--mapping", lab.bundle.mapping], in: folder)
            try #require(one.status == 0, "\(one.log)")
            let ended = try program.run(
                ["migrate", "one/a.sqlite", "--in-process"] + lab.way, in: folder)
            try #require(ended.status == 0, "\(ended.log)")
            let numbers = try titles(lab, "one/a.sqlite")
            #expect(numbers.count == 20)
            #expect(numbers.allSatisfy { $0?.contains("1b") != true })
            // One that has the destination's version already is left alone, programs and all.
            let again = try program.run(
                ["migrate", "one/a.sqlite", "--in-process"] + lab.way, in: folder)
            #expect(again.status == 0 && again.output.contains("already"), "\(again.output)")
            #expect(try titles(lab, "one/a.sqlite") == numbers)
        }
    }

    @Test("a version leads to itself by a mapping")
    func aStepThatStays() throws {
        try withTemporaryFolder { folder in
            let lab = try Lab(folder)
            _ = try lab.bundle.makeStore("a.sqlite", notes: 30)
            try lab.write(
                "clean.yaml",
                """
                godwit-mapping: 1
                entities:
                  - entity: Note
                    attributes: {title: "uppercase:('clean')"}
                """)
            try lab.steps(
                """
                  - {version: M 2, mapping: numbers.yaml}
                  - {version: M 2, mapping: clean.yaml}
                """)
            let later = try program.run(
                ["migrate", "a.sqlite", "--output", "two", "--to", "\(lab.bundle.path):M 2"]
                    + ["--mapping", lab.bundle.mapping], in: folder)
            try #require(later.status == 0, "\(later.log)")
            let before = try titles(lab, "two/a.sqlite")
            // A store that has the version already takes none of its steps.
            let straight = try program.run(
                ["migrate", "two/a.sqlite", "--in-process"] + lab.way, in: folder)
            try #require(straight.status == 0, "\(straight.log)")
            #expect(try titles(lab, "two/a.sqlite") == before)
            let plan = try program.run(["plan", "a.sqlite"] + lab.way, in: folder)
            #expect(plan.status == 0, "\(plan.log)")
            let ended = try program.run(
                ["migrate", "a.sqlite", "--in-process"] + lab.way, in: folder)
            try #require(ended.status == 0, "\(ended.log)")
            #expect(try titles(lab, "a.sqlite") == Array(repeating: "CLEAN", count: 30))
        }
    }

    @Test("paths start at the folder of the file, and programs run there")
    func folders() throws {
        try withTemporaryFolder { folder in
            let lab = try Lab(folder)
            _ = try lab.bundle.makeStore("a.sqlite", notes: 30)
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("steps"), withIntermediateDirectories: false)
            try lab.write("steps/title.sql", "UPDATE ZNOTE SET ZTITLE = 'here'")
            try lab.write(
                "steps/steps.yaml",
                """
                godwit-steps: 1
                steps:
                  - version: M 2
                    mapping: ../numbers.yaml
                    after: [sh, -c, sqlite3 "$1" < title.sql, sh]
                """)
            let ended = try program.run(
                ["migrate", "a.sqlite", "--workers", "1", "--to", lab.bundle.path]
                    + ["--via", "steps/steps.yaml"], in: folder)
            try #require(ended.status == 0, "\(ended.log)")
            #expect(try titles(lab, "a.sqlite") == Array(repeating: "here", count: 30))
        }
    }

    @Test("plan runs no program, and says which store it would change")
    func planned() throws {
        try withTemporaryFolder { folder in
            let lab = try Lab(folder)
            _ = try lab.bundle.makeStore("a.sqlite", notes: 30)
            try lab.write("sql.sh", "#!/bin/sh\ntouch \(folder.path)/ran\n")
            try lab.steps(Self.chain)
            let plan = try program.run(["plan", "a.sqlite"] + lab.way, in: folder)
            #expect(plan.status == 0, "\(plan.log)")
            #expect(plan.output.contains("a store of M is written on the way: ./sql.sh runs on it"))
            #expect(plan.output.contains("a policy or a program runs before the step to M 2"))
            _ = try lab.bundle.makeStore("b.sqlite", notes: 30)
            let both = try program.run(["plan", "a.sqlite", "b.sqlite"] + lab.way, in: folder)
            #expect(
                both.output.contains("policies or programs run on the way of 2 stores"),
                "\(both.output)")
            let check = try program.run(
                ["model", "check", "\(lab.bundle.path):M", lab.bundle.path, "--via", "steps.yaml"],
                in: folder)
            #expect(
                check.output.contains("./sql.sh runs on its result, and can fail"),
                "\(check.output) \(check.log)")
            #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/ran"))
        }
    }

    /// In WAL mode, as Core Data leaves stores; both kinds of slots give the same.
    @Test(
        "what a program leaves beside the store does no harm",
        arguments: [
            "sqlite3 $1 'UPDATE ZNOTE SET ZTITLE = 7'; touch $1.bak; mkdir $1.d; ln -s / $1.l",
            "cp $1 x.copy; sqlite3 x.copy 'UPDATE ZNOTE SET ZTITLE = 7'; mv x.copy $1",
            """
            exec python3 -c '
            import os, sqlite3, sys
            store = sqlite3.connect(sys.argv[1])
            store.execute("UPDATE ZNOTE SET ZTITLE = 7")
            store.commit()
            os._exit(0)' $1
            """,
        ])
    func leftovers(body: String) throws {
        for mode in [["--in-process"], ["--workers", "1"]] {
            try withTemporaryFolder { folder in
                let lab = try Lab(folder)
                let store = try lab.bundle.makeStore("a.sqlite", notes: 30)
                _ = try DatabasePool(path: store)
                try lab.script("leave.sh", body)
                let ended = try program.run(
                    ["migrate", "a.sqlite", "--output", "out"] + lab.way + mode, in: folder)
                try #require(ended.status == 0, "\(ended.log)")
                let result = folder.appendingPathComponent("out/a.sqlite")
                #expect(try Array(Data(contentsOf: result)[18..<20]) == [2, 2])
                #expect(try titles(lab, "out/a.sqlite") == Array(repeating: "7", count: 30))
                #expect(!ended.output.contains("WAL mode"), "\(ended.output)")
            }
        }
    }

    @Test("a report names programs that change no number of objects")
    func namedPrograms() throws {
        try withTemporaryFolder { folder in
            let lab = try Lab(folder)
            _ = try lab.bundle.makeStore("a.sqlite", notes: 3)
            try lab.steps("  - {version: M 2, mapping: numbers.yaml, after: [SQL, SELECT 1]}")
            let ended = try program.run(
                ["migrate", "a.sqlite", "--in-process"] + lab.way, in: folder)
            try #require(ended.status == 0, "\(ended.log)")
            let report = try String(
                contentsOf: folder.appendingPathComponent(".godwit/runs/r1/report.json"),
                encoding: .utf8)
            #expect(
                report.contains("./sql.sh: no entity's number of objects changed"), "\(report)")
        }
    }

    @Test("what a program has started ends with it")
    func children() throws {
        try withTemporaryFolder { folder in
            let lab = try Lab(folder)
            _ = try lab.bundle.makeStore("a.sqlite", notes: 3)
            try lab.script("start.sh", "sleep 1000 &\necho $! > pid")
            let ended = try program.run(
                ["migrate", "a.sqlite", "--in-process"] + lab.way, in: folder)
            try #require(ended.status == 0, "\(ended.log)")
            let text = try String(
                contentsOf: folder.appendingPathComponent("pid"), encoding: .utf8)
            let id = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            // A zombie has no command line.
            let command = FileManager.default.contents(atPath: "/proc/\(id)/cmdline") ?? Data()
            #expect(!String(decoding: command, as: UTF8.self).contains("sleep"))
        }
    }

    @Test("a failure is seen where SIGCHLD is ignored")
    func ignoredSignals() throws {
        try withTemporaryFolder { folder in
            let lab = try Lab(folder)
            _ = try lab.bundle.makeStore("a.sqlite", notes: 3)
            try lab.script("fail.sh", "exit 7")
            let failed = try program.run(
                ["migrate", "a.sqlite", "--in-process"] + lab.way, in: folder,
                with: ["--ignore-signal=CHLD"])
            #expect(failed.status == 65, "\(failed.output)")
            #expect(failed.log.contains("ended with status 7"), "\(failed.log)")
        }
    }

    @Test("a second name of the original is refused")
    func secondNames() throws {
        try withTemporaryFolder { folder in
            let lab = try Lab(folder)
            let store = try lab.bundle.makeStore("a.sqlite", notes: 30)
            let before = try Data(contentsOf: URL(fileURLWithPath: store))
            try lab.script("link.sh", "ln -f a.sqlite $1")
            let failed = try program.run(
                ["migrate", "a.sqlite", "--in-process", "--output", "out"] + lab.way,
                in: folder)
            #expect(failed.status == 65 && failed.log.contains("no file of its own"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        }
    }

    @Test(
        "a program that fails is named with its step, and the store can be replayed",
        arguments: [
            ("exit 3", "ended with status 3"), ("kill -9 $$", "was ended by signal 9"),
            ("echo damage > $1", "left a store that cannot be opened"),
            ("sqlite3 $1 \"UPDATE Z_METADATA SET Z_UUID = 'x'\"", "changed its model version"),
            ("sqlite3 $1 'DROP TABLE ZNOTE'", "left what cannot be read"),
        ])
    func failed(body: String, words: String) throws {
        for mode in [["--in-process"], ["--workers", "1"]] {
            try withTemporaryFolder { folder in
                let lab = try Lab(folder)
                let store = try lab.bundle.makeStore("a.sqlite", notes: 30)
                let before = try Data(contentsOf: URL(fileURLWithPath: store))
                try lab.script("bad.sh", body)
                let failed = try program.run(
                    ["migrate", "a.sqlite"] + lab.way + mode, in: folder)
                #expect(failed.status == 65, "\(failed.log)")
                for text in ["step M → M 2: ", "./bad.sh", words] {
                    #expect(failed.log.contains(text), "\(failed.log)")
                }
                #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
                try lab.write("bad.sh", "#!/bin/sh\nexit 0\n")
                let replayed = try program.run(["replay", "--state", ".godwit"], in: folder)
                #expect(replayed.status == 0, "\(replayed.log)")
                #expect(try lab.bundle.rows("a.sqlite").count == 30)
            }
        }
    }

    @Test(
        "mistakes in a file of steps name their place",
        arguments: [
            ("  - {version: M 9}", 64, "no version M 9. Did you mean"),
            ("  - {version: M 2, after: [./none.sh]}", 64, "line 3, column"),
            ("  - {version: M 2, after: ./sql.sh}", 65, "a program is a list"),
            ("  - {version: M 2, afer: [./sql.sh]}", 65, "Did you mean after"),
            ("  - {mapping: numbers.yaml}", 65, "a step has no version"),
            ("  - {version: M 2}\n  - {version: M 2}", 64, "names each version once"),
            ("  - {version: M 3}\n  - {version: M 2}", 64, "M 3 is the destination, and no step"),
            ("  - {version: M 2, after: [sh, ~]}", 65, "an argument is null"),
            ("  - {version: M 2}\n  - {version: M}", 64, "would lead to an older version"),
            ("  - {version: M 2, mapping: none.yaml}", 64, "line 3, column 15: the mapping"),
        ])
    func mistakes(lines: String, status: Int32, words: String) throws {
        try withTemporaryFolder { folder in
            let lab = try Lab(folder)
            _ = try lab.bundle.makeStore("a.sqlite", notes: 3)
            try lab.steps(lines)
            let plan = try program.run(["plan", "a.sqlite"] + lab.way, in: folder)
            #expect(plan.status == status && plan.log.contains(words), "\(plan.status) \(plan.log)")
        }
    }
}

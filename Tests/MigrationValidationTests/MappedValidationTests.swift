import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import Jobs
import SafeSQLite
import StoreFileChecks
import TestSupport
import Testing

@testable import MigrationValidation
import ValidationScans

@Suite struct MappedValidationTests {
    private func withPair(
        _ change: String?, newPlaces: ValidationScope.NewPlaces = .distinct,
        _ body: (ValidationReport) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            let (made, _) = try NaiveMigration.write(in: FilePath(folder.path))
            var scope = made.scope
            scope.newPlaces = newPlaces
            let validator = Validator(scope: scope, files: made.files)
            if let change {
                let connection = try Connection(path: validator.files.destination, mode: .create)
                try connection.execute(change)
                _ = try connection.texts("PRAGMA wal_checkpoint(TRUNCATE)")
                try connection.close()
            }
            try body(try validator.run())
        }
    }

    @Test func handWrittenResultIsEqual() throws {
        try withPair(nil) { report in
            #expect(report.isEqual, "\(report.lines)")
            #expect(report.rows == 5)
            #expect(report.sourceRows == 6)
            // Three teams and one mentor; the link to the dropped manager vanished.
            #expect(report.links == 4)
            #expect(report.values == 3 * 7 + 2 * 3)
        }
    }

    /// What is wrong, and the labels or faults that must name it.
    static let mistakes: [(change: String, place: String)] = [
        ("UPDATE ZEMPLOYEE SET ZRANK = 7.5 WHERE Z_PK = 1", "Employee.rank"),
        ("UPDATE ZEMPLOYEE SET ZCITY = NULL WHERE Z_PK = 2", "Employee.city"),
        ("UPDATE ZEMPLOYEE SET ZPORTRAIT = x'01AABB' WHERE Z_PK = 1", "Employee.portrait"),
        ("UPDATE ZEMPLOYEE SET ZPORTRAIT = x'CAFE02' WHERE Z_PK = 5", "Employee.portrait"),
        ("UPDATE ZEMPLOYEE SET ZBADGE = x'0102' WHERE Z_PK = 1", "Employee.badge"),
        ("UPDATE ZEMPLOYEE SET ZBADGE = NULL WHERE Z_PK = 5", "Employee.badge"),
        ("UPDATE ZEMPLOYEE SET ZMENTOR = 3 WHERE Z_PK = 2", "Employee.mentor"),
        ("UPDATE ZEMPLOYEE SET ZTEAM = 2 WHERE Z_PK = 1", "Employee.team"),
        ("UPDATE ZEMPLOYEE SET Z_FOK_TEAM = 2048 WHERE Z_PK = 2", "Employee.team"),
        ("UPDATE ZEMPLOYEE SET Z_FOK_TEAM = NULL WHERE Z_PK = 2", "Employee.team"),
        (
            "INSERT INTO ZEMPLOYEE (Z_PK, Z_ENT, Z_OPT, ZFULLNAME) VALUES (3, 2, 1, 'Cy')",
            "Employee.Z_ENT"
        ),
        ("UPDATE ZTEAM SET ZTITLE = '' WHERE Z_PK = 2", "Team.title"),
        ("UPDATE ZTEAM SET Z_OPT = 2 WHERE Z_PK = 2", "Team.Z_OPT"),
        ("INSERT INTO ZARCHIVE (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)", "Archive.Z_ENT"),
    ]

    @Test(arguments: mistakes.indices)
    func mistakeIsNamed(number: Int) throws {
        let (change, place) = Self.mistakes[number]
        try withPair(change) { report in
            #expect(!report.isEqual)
            let named =
                report.unequal
                + report.newFaults.map { "\($0.fault.entity).\($0.fault.property)" }
            #expect(named.contains(place), "\(change): \(report.lines)")
        }
    }

    @Test func placesInListsMayBeAnyDistinctNumbers() throws {
        try withPair("UPDATE ZEMPLOYEE SET Z_FOK_TEAM = 9 WHERE Z_PK = 2") { report in
            #expect(report.isEqual, "\(report.lines)")
        }
    }

    /// A result of Godwit has the places that Godwit makes: a worker cannot choose others.
    @Test(arguments: [
        "UPDATE ZEMPLOYEE SET Z_FOK_TEAM = 9 WHERE Z_PK = 2",
        "UPDATE ZEMPLOYEE SET Z_FOK_TEAM = -Z_FOK_TEAM",
        "UPDATE ZEMPLOYEE SET Z_FOK_TEAM = 5120 - Z_FOK_TEAM WHERE ZTEAM = 1",
    ])
    func placesOfAResultFollowTheKeys(change: String) throws {
        try withPair(change) { #expect($0.isEqual, "\($0.lines)") }
        try withPair(nil, newPlaces: .byKey) { #expect($0.isEqual, "\($0.lines)") }
        try withPair(change, newPlaces: .byKey) { report in
            #expect(report.newFaults.map(\.fault.kind) == [.missingOrder], "\(report.lines)")
        }
    }

    @Test func differencesAreListedByURI() throws {
        let start = "x-coredata://8D1E2F3A-0000-4000-8000-00000000000A/"
        try withPair(
            "UPDATE ZEMPLOYEE SET ZFULLNAME = 'Eve' WHERE Z_PK = 2; "
                + "DELETE FROM ZTEAM WHERE Z_PK = 2"
        ) { report in
            #expect(
                report.differences == [
                    Difference(uri: "\(start)Employee/p2", property: "fullName", kind: .value),
                    Difference(uri: "\(start)Team/p2", property: "", kind: .missing),
                ])
            #expect(!report.lines.joined().contains("Eve"))
            // The member of the deleted team refers to nothing now.
            #expect(report.newFaults.contains { $0.fault.kind == .dangling && $0.count == 1 })
        }
        try withPair("UPDATE ZEMPLOYEE SET ZTEAM = NULL WHERE Z_PK = 5") { report in
            #expect(
                report.differences == [
                    Difference(uri: "\(start)Team/p2", property: "members", kind: .links)
                ]
                    || report.differences == [
                        Difference(uri: "\(start)Employee/p5", property: "team", kind: .links)
                    ])
        }
    }

    @Test func partsMayBeCutAndRunInAnyOrder() throws {
        try withTemporaryFolder { folder in
            let (validator, _) = try NaiveMigration.write(in: FilePath(folder.path))
            let ranges = [
                KeyRange(upper: 1), KeyRange(lower: 2, upper: 4), KeyRange(lower: 5),
            ]
            let parts = validator.parts(
                sourceRanges: ["ZEMPLOYEE": ranges], destinationRanges: ["ZEMPLOYEE": ranges])
            var generator = SeededGenerator(seed: 1)
            var whole = PartialResult()
            for part in parts.shuffled(using: &generator) {
                let copy = try JSONDecoder().decode(
                    ValidationPart.self, from: JSONEncoder().encode(part))
                let result = try validator.run(copy)
                whole.merge(
                    try JSONDecoder().decode(
                        PartialResult.self, from: JSONEncoder().encode(result)))
            }
            let report = try validator.report(on: whole)
            #expect(report.isEqual, "\(report.lines)")
            #expect(report == (try validator.run()))
        }
    }

    @Test func inheritedFaultsBlockNothingAndNewOnesDo() throws {
        try withTemporaryFolder { folder in
            let (validator, _) = try NaiveMigration.write(in: FilePath(folder.path))
            // A required name that is missing on both sides, then on one.
            for (path, column, isEqual) in [
                (validator.files.destination, "ZFULLNAME", false),
                (validator.files.source, "ZNAME", true),
            ] {
                let connection = try Connection(path: path, mode: .create)
                try connection.execute("UPDATE ZEMPLOYEE SET \(column) = NULL WHERE Z_PK = 1")
                _ = try connection.texts("PRAGMA wal_checkpoint(TRUNCATE)")
                try connection.close()
                let report = try validator.run()
                #expect(report.isEqual == isEqual, "\(report.lines)")
                let fault = Fault(entity: "Employee", property: "fullName", kind: .missingValue)
                let listed = isEqual ? report.inherited : report.newFaults
                #expect(listed.contains { $0.fault == fault && $0.count == 1 })
            }
        }
    }
}

import MigrationPlans
import SafeSQLite
import Testing

/// References to missing objects, whose entity nothing may tell.
@Suite("Keys of targets in several places") struct TargetKeysTests {
    private func target(_ number: Int64, _ keys: KeyRange?) -> Target {
        Target(
            sourceNumber: number,
            place: keys.map { Target.Place(number: number, offset: 0, keys: $0) })
    }

    @Test func aKeyStaysClearInEveryPlace() {
        let last = KeyRange(lower: 1)
        let between = KeyRange(lower: 1, upper: 40)
        #expect([target(1, last), target(2, between)].keys == between)
        #expect([target(2, between), target(1, last)].keys == between)
        #expect([target(1, nil), target(2, between)].keys == between)
        #expect([target(1, .all), target(2, .all)].keys == .all)
        #expect([Target]().keys == .all)
    }
}

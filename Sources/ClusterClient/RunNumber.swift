/// The order of runs by their ids: `r10` comes after `r9`.
package struct RunNumber: Comparable {
    private let number: Int
    private let text: String

    package init(_ run: String) {
        number = Int(run.drop { !$0.isNumber }.prefix { $0.isNumber }) ?? -1
        text = run
    }

    package static func < (left: RunNumber, right: RunNumber) -> Bool {
        (left.number, left.text) < (right.number, right.text)
    }
}

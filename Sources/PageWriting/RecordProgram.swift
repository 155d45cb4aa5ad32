package import MigrationPlans

/// How the values of a new record come from those of another record.
///
/// It says what SQLite's statements say where they are simple. What it meets beyond that, such as a
/// text where a number belongs, is out of its reach: the caller leaves such data to SQLite.
package struct RecordProgram: Sendable {
    /// How SQLite changes values that are put into a column (data types §3).
    package enum Affinity: Hashable, Sendable {
        case integer, numeric, real, text, blob
    }

    /// A column of the record that is read.
    package struct Field: Hashable, Sendable {
        /// Its place in the record.
        package let place: Int
        /// Whether its integers are read as reals (data types §3.1).
        package let isReal: Bool

        package init(place: Int, isReal: Bool) {
            self.place = place
            self.isReal = isReal
        }
    }

    /// A value that is the same in all records.
    package enum Constant: Hashable, Sendable {
        case null
        case integer(Int64)
        case real(Double)
        case text([UInt8])
        case blob([UInt8])
    }

    /// A number by which another one is found.
    package struct Pair: Hashable, Sendable {
        package let from: Int64
        package let to: Int64

        package init(from: Int64, to: Int64) {
            self.from = from
            self.to = to
        }
    }

    /// What is known of the target of a key.
    package struct Target: Hashable, Sendable {
        /// Where the number of its entity is read.
        package enum Entity: Hashable, Sendable {
            case field(Int)
            case number(Int64)
        }

        /// The place of the key.
        package let key: Int
        /// Nil where it is of no use.
        package let entity: Entity?
        /// Lower keys give NULL; nil where there is no bound.
        package let lower: Int64?
        /// Higher keys give NULL; nil where there is no bound.
        package let upper: Int64?

        package init(key: Int, entity: Entity?, lower: Int64?, upper: Int64?) {
            self.key = key
            self.entity = entity
            self.lower = lower
            self.upper = upper
        }

        var isBounded: Bool { lower != nil || upper != nil }

        func allows(_ key: Int64) -> Bool {
            if let lower, key < lower { return false }
            if let upper, key > upper { return false }
            return true
        }
    }

    /// What a number is taken from.
    package enum Choice: Hashable, Sendable {
        /// The same for all targets.
        case common(Int64)
        /// By the number of the target's entity; NULL for others.
        case byEntity([Pair])
    }

    /// One value.
    package enum Step: Hashable, Sendable {
        /// A value as it is, or a constant for NULL.
        case copy(Field, orElse: Constant?)
        case constant(Constant)
        /// A key, with an offset added.
        case key(Target, offset: Choice)
        /// A number that stands for a key's target, where it has one.
        case number(Target, Choice)
        /// The number of the target's entity, as it is read.
        case sameNumber(Target)
        /// A blob with the prefix byte of inline storage before it; other values as they are.
        case addingPrefix(Field)
        /// A blob without the prefix byte of inline storage; other values as they are.
        case removingPrefix(Field)
        /// What an expression gives for its inputs.
        case computed(ComputedCell, [Field])
    }

    /// A column of the new record.
    package struct Column: Hashable, Sendable {
        package let step: Step
        package let affinity: Affinity

        package init(_ step: Step, _ affinity: Affinity) {
            self.step = step
            self.affinity = affinity
        }
    }

    package let columns: [Column]

    /// - Parameter columns: in the order of the new record.
    package init(_ columns: [Column]) { self.columns = columns }

    /// How many columns, from the first, are read.
    package var fields: Int {
        var count = 0
        for column in columns {
            let places: [Int] =
                switch column.step {
                case .copy(let field, _), .addingPrefix(let field), .removingPrefix(let field):
                    [field.place]
                case .constant: []
                case .computed(_, let fields): fields.map(\.place)
                case .key(let target, _), .number(let target, _), .sameNumber(let target):
                    if case .field(let place)? = target.entity {
                        [target.key, place]
                    } else {
                        [target.key]
                    }
                }
            count = max(count, (places.max() ?? -1) + 1)
        }
        return count
    }
}

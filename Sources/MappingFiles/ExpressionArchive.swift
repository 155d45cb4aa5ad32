package import MappingExpressions
import ManagedObjectModel
package import ModelFiles

/// Reads archived `NSExpression` and `NSPredicate` objects, as mapping models hold them.
package struct ExpressionArchive {
    /// The archive that the objects lie in.
    package var archive: KeyedArchive

    /// The most expressions and predicates inside each other.
    static let depthLimit = 64
    /// The class whose functions an expression calls without naming a receiver.
    private static let utilities = "_NSPredicateUtilities"

    package init(_ archive: KeyedArchive) { self.archive = archive }

    /// The expression that a whole archive holds.
    ///
    /// - Throws: `MappingFileError.malformed` for what is no such archive, `.unsupported` for an
    ///   expression outside the documented list, by name.
    package static func expression(
        _ bytes: [UInt8]
    ) throws(MappingFileError) -> MappingExpression {
        var reader = ExpressionArchive(try MappingFileError.translating { try KeyedArchive(bytes) })
        let root = try MappingFileError.translating { try reader.archive.root() }
        return try reader.expression(root)
    }

    /// One archived expression.
    ///
    /// - Throws: as `expression(_:)` of a whole archive.
    package mutating func expression(
        _ object: ArchivedObject, depth: Int = 0
    ) throws(MappingFileError) -> MappingExpression {
        try enter(depth)
        switch object.className {
        case "NSSelfExpression": return .evaluatedObject
        case "NSVariableExpression": return .variable(try text(object, "NSVariable"))
        case "NSConstantValueExpression": return try constant(object)
        case "NSKeyPathExpression": return try keyPath(object, depth)
        case "NSFunctionExpression": return try function(object, depth)
        case "NSAggregateExpression": return .list(try list(object["NSCollection"], depth))
        case "NSSetExpression": return try combination(object, depth)
        case "NSTernaryExpression":
            return .conditional(
                try predicate(part(object, "NSPredicate"), depth: depth + 1),
                try expression(part(object, "NSTrueExpression"), depth: depth + 1),
                try expression(part(object, "NSFalseExpression"), depth: depth + 1))
        case "NSSubqueryExpression":
            return .subquery(
                try expression(part(object, "NSCollection"), depth: depth + 1),
                variable: try variableName(object),
                try predicate(part(object, "NSPredicate"), depth: depth + 1))
        default:
            throw .unsupported("an expression of class \(object.className) is not supported")
        }
    }

    private mutating func variableName(
        _ object: ArchivedObject
    ) throws(MappingFileError) -> String {
        for key in ["NSVariable", "NSVariableExpression"] {
            guard let value = try plain(object[key]) else { continue }
            if let name = try MappingFileError.translating({ try archive.textOrNil(value) }) {
                return name
            }
            let inner = try part(object, key)
            return try text(inner, "NSVariable")
        }
        throw .malformed("an archived subquery names no variable")
    }

    private mutating func constant(
        _ object: ArchivedObject
    ) throws(MappingFileError) -> MappingExpression {
        guard let value = try plain(object["NSConstantValue"]) else {
            guard let name = try plain(object["NSConstantValueClassName"])?.text else {
                return .null
            }
            throw .unsupported("class \(name) stands where an expression must have a value")
        }
        if let element = try MappingFileError.translating({ try archive.objectOrNil(value) }),
            ["NSArray", "NSMutableArray", "NSSet", "NSMutableSet"].contains(element.className)
        {
            var members: [MappingExpression] = []
            let references = try MappingFileError.translating {
                try archive.list(object["NSConstantValue"])
            }
            for reference in references { members.append(try constantValue(reference)) }
            return .list(members)
        }
        return try constantValue(value)
    }

    private mutating func constantValue(
        _ reference: PropertyList
    ) throws(MappingFileError) -> MappingExpression {
        guard let value = try plain(reference) else { return .null }
        let known = try MappingFileError.translating { try archive.constant(value) }
        if let known { return .constant(known) }
        let name = try MappingFileError.translating { try archive.objectOrNil(value)?.className }
        if name == "NSNull" { return .null }
        throw .unsupported("a constant of class \(name ?? "?") is not supported")
    }

    private mutating func keyPath(
        _ object: ArchivedObject, _ depth: Int
    ) throws(MappingFileError) -> MappingExpression {
        var keys: [String] = []
        let arguments = try MappingFileError.translating {
            try archive.list(object["NSArguments"])
        }
        for reference in arguments {
            let specifier = try self.object(reference)
            guard specifier.className == "NSKeyPathSpecifierExpression" else {
                throw .unsupported(
                    "a key path of class \(specifier.className) is not supported")
            }
            keys += try text(specifier, "NSKeyPath").split(separator: ".").map(String.init)
        }
        guard !keys.isEmpty else { throw .malformed("an archived key path has no key") }
        guard try plain(object["NSOperand"]) != nil else { return .keyPath(.evaluatedObject, keys) }
        let operand = try expression(part(object, "NSOperand"), depth: depth + 1)
        // One path, as its text would be read.
        if case .keyPath(let inner, let first) = operand { return .keyPath(inner, first + keys) }
        return .keyPath(operand, keys)
    }

    private mutating func function(
        _ object: ArchivedObject, _ depth: Int
    ) throws(MappingFileError) -> MappingExpression {
        let selector = try text(object, "NSSelectorName")
        var receiver: MappingExpression?
        var isClass = false
        if let operand = try plain(object["NSOperand"]) {
            let operandObject = try self.object(operand)
            let className =
                operandObject.className == "NSConstantValueExpression"
                ? try plain(operandObject["NSConstantValueClassName"])?.text : nil
            if className != Self.utilities {
                if let className {
                    isClass = true
                    receiver = .constant(.text(className))
                } else {
                    receiver = try expression(operandObject, depth: depth + 1)
                }
            }
        }
        if receiver == nil, selector == "objectFrom:withIndex:" {
            return try element(object, depth)
        }
        let arguments = try list(object["NSArguments"], depth)
        if let receiver {
            // `FUNCTION(nil, "now")` is how Xcode archives `now()`.
            if isClass { return .call(receiver, selector: selector, arguments) }
            let isMethod = ExpressionFunction(rawValue: selector)?.isMethod == true
            guard receiver == .null, !isMethod else {
                return .method(selector, of: receiver, arguments)
            }
        }
        return try function(selector, arguments)
    }

    private func function(
        _ selector: String, _ arguments: [MappingExpression]
    ) throws(MappingFileError) -> MappingExpression {
        if selector == "castObject:toType:", arguments.count == 2,
            case .constant(.text(let name)) = arguments[1]
        {
            guard let target = MappingExpression.CastTarget(rawValue: name) else {
                throw .unsupported("CAST to \(name) is not supported")
            }
            return .cast(arguments[0], to: target)
        }
        guard let function = ExpressionFunction(rawValue: selector), !function.isMethod else {
            throw .unsupported("function \(selector) is not supported")
        }
        guard function.argumentCount == arguments.count else {
            throw .malformed("function \(selector) is archived with \(arguments.count) arguments")
        }
        return .function(function, arguments)
    }

    private mutating func element(
        _ object: ArchivedObject, _ depth: Int
    ) throws(MappingFileError) -> MappingExpression {
        let arguments = try MappingFileError.translating {
            try archive.list(object["NSArguments"])
        }
        guard arguments.count == 2 else { throw .malformed("an archived index is incomplete") }
        let collection = try expression(self.object(arguments[0]), depth: depth + 1)
        let index = try self.object(arguments[1])
        guard index.className == "NSSymbolicExpression" else {
            return .element(collection, at: .at(try expression(index, depth: depth + 1)))
        }
        switch try text(index, "NSToken").uppercased() {
        case "FIRST": return .element(collection, at: .first)
        case "LAST": return .element(collection, at: .last)
        case "SIZE": return .element(collection, at: .size)
        case let word: throw .unsupported("index [\(word)] is not supported")
        }
    }

    private mutating func combination(
        _ object: ArchivedObject, _ depth: Int
    ) throws(MappingFileError) -> MappingExpression {
        let kind = try MappingFileError.translating {
            try archive.integer(object["NSExpressionType"])
        }
        let operators: [Int64: MappingExpression.SetOperator] = [
            5: .union, 6: .intersect, 7: .minus,
        ]
        guard let kind, let joined = operators[kind] else {
            throw .unsupported("a set expression of type \(kind ?? 0) is not supported")
        }
        return .combination(
            joined, try expression(part(object, "NSLeftExpression"), depth: depth + 1),
            try expression(part(object, "NSRightExpression"), depth: depth + 1))
    }

    private mutating func list(
        _ reference: PropertyList?, _ depth: Int
    ) throws(MappingFileError) -> [MappingExpression] {
        let references = try MappingFileError.translating { try archive.list(reference) }
        var members: [MappingExpression] = []
        for reference in references {
            members.append(try expression(object(reference), depth: depth + 1))
        }
        return members
    }
}

// MARK: - The archive

extension ExpressionArchive {
    mutating func enter(_ depth: Int) throws(MappingFileError) {
        guard depth < Self.depthLimit else {
            throw .malformed("an archived expression is nested too deep")
        }
        try MappingFileError.translating { try archive.spend(1) }
    }

    func plain(_ reference: PropertyList?) throws(MappingFileError) -> PropertyList? {
        try MappingFileError.translating { try archive.value(reference) }
    }

    func object(_ reference: PropertyList) throws(MappingFileError) -> ArchivedObject {
        guard let object = try MappingFileError.translating({ try archive.object(reference) })
        else { throw .malformed("an archived expression has nil where a part belongs") }
        return object
    }

    /// A part that must be there.
    func part(_ object: ArchivedObject, _ key: String) throws(MappingFileError) -> ArchivedObject {
        guard let reference = object[key] else {
            throw .malformed("an archived \(object.className) has no \(key)")
        }
        return try self.object(reference)
    }

    mutating func text(_ object: ArchivedObject, _ key: String) throws(MappingFileError) -> String {
        guard let text = try MappingFileError.translating({ try archive.text(object[key]) }) else {
            throw .malformed("an archived \(object.className) has no \(key)")
        }
        return text
    }
}

extension MappingFileError {
    /// Runs code of the readers of models, whose errors become those of mappings.
    static func translating<Value>(
        _ body: () throws -> Value
    ) throws(MappingFileError) -> Value {
        do {
            return try body()
        } catch ModelError.unsupported(let text) {
            throw .unsupported(text)
        } catch ModelError.unreadable(let text) {
            throw .unreadable(text)
        } catch ModelError.malformed(let text) {
            throw .malformed(text)
        } catch {
            throw .malformed("\(error)")
        }
    }
}

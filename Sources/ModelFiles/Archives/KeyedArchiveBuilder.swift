/// Collects the object table of a keyed archive.
///
/// An object may be reserved first and filled later, so that others can refer to it. Equal
/// texts and numbers share one place, as they do in Apple's archives.
struct KeyedArchiveBuilder {
    /// The reference that stands for nil.
    static let null = PropertyList.uid(0)

    private var objects: [PropertyList] = [.string("$null")]
    /// Places of texts, by their bytes: strings that differ only in normal form stay two.
    private var texts: [[UInt8]: Int] = [:]
    private var numbers: [PropertyList: Int] = [:]
    private var classes: [String: Int] = [:]

    /// A place for an object that is filled later.
    mutating func reserve() -> PropertyList {
        objects.append(.null)
        return .uid(UInt64(objects.count - 1))
    }

    /// Puts an object in its reserved place.
    mutating func fill(
        _ place: PropertyList, _ className: String, _ fields: [PropertyList.Entry]
    ) {
        guard case .uid(let number) = place else { return }
        let entry = PropertyList.Entry("$class", classReference(className))
        objects[Int(number)] = .dictionary(fields + [entry])
    }

    /// A new object.
    mutating func add(_ className: String, _ fields: [PropertyList.Entry]) -> PropertyList {
        let place = reserve()
        fill(place, className, fields)
        return place
    }

    mutating func text(_ text: String?) -> PropertyList {
        guard let text else { return Self.null }
        let bytes = Array(text.utf8)
        if let known = texts[bytes] { return .uid(UInt64(known)) }
        texts[bytes] = objects.count
        objects.append(.string(text))
        return .uid(UInt64(objects.count - 1))
    }

    /// A number, boolean or piece of data.
    mutating func plain(_ value: PropertyList) -> PropertyList {
        if let known = numbers[value] { return .uid(UInt64(known)) }
        numbers[value] = objects.count
        objects.append(value)
        return .uid(UInt64(objects.count - 1))
    }

    /// A list object of the given class.
    mutating func list(_ className: String, _ elements: [PropertyList]) -> PropertyList {
        add(className, [PropertyList.Entry("NS.objects", .array(elements))])
    }

    mutating func dictionary(
        _ className: String, _ pairs: [(key: String, value: PropertyList)]
    ) -> PropertyList {
        let keys = pairs.map { text($0.key) }
        return add(
            className,
            [
                PropertyList.Entry("NS.keys", .array(keys)),
                PropertyList.Entry("NS.objects", .array(pairs.map(\.value))),
            ])
    }

    /// The finished archive with its root object.
    func write(root: PropertyList) -> [UInt8] {
        BinaryPropertyList.write(
            .dictionary([
                PropertyList.Entry("$version", .integer(100_000)),
                PropertyList.Entry("$archiver", .string("NSKeyedArchiver")),
                PropertyList.Entry(
                    "$top", .dictionary([PropertyList.Entry("root", root)])),
                PropertyList.Entry("$objects", .array(objects)),
            ]))
    }

    private mutating func classReference(_ name: String) -> PropertyList {
        if let known = classes[name] { return .uid(UInt64(known)) }
        classes[name] = objects.count
        let line = [name] + (Self.ancestors[name] ?? []) + ["NSObject"]
        objects.append(
            .dictionary([
                PropertyList.Entry("$classname", .string(name)),
                PropertyList.Entry("$classes", .array(line.map { .string($0) })),
            ]))
        return .uid(UInt64(objects.count - 1))
    }

    /// Superclasses between a class and `NSObject`, as archives list them.
    private static let ancestors: [String: [String]] = [
        ArchivedClass.attribute: ["NSPropertyDescription"],
        ArchivedClass.derivedAttribute: [ArchivedClass.attribute, "NSPropertyDescription"],
        ArchivedClass.compositeAttribute: [ArchivedClass.attribute, "NSPropertyDescription"],
        ArchivedClass.relationship: ["NSPropertyDescription"],
        ArchivedClass.fetchedProperty: ["NSPropertyDescription"],
        ArchivedClass.expressionProperty: ["NSPropertyDescription"],
        "NSMutableArray": ["NSArray"],
        "NSMutableDictionary": ["NSDictionary"],
        "NSKnownKeysDictionary1": [
            "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary",
        ],
        "NSKnownKeysMappingStrategy1": ["NSKnownKeysMappingStrategy"],
        "NSDecimalNumber": ["NSNumber", "NSValue"],
        "NSComparisonPredicate": ["NSPredicate"],
        "NSCompoundPredicate": ["NSPredicate"],
        "NSComparisonPredicateOperator": ["NSPredicateOperator"],
        "NSEqualityPredicateOperator": ["NSPredicateOperator"],
        "NSConstantValueExpression": ["NSExpression"],
        "NSFunctionExpression": ["NSExpression"],
        "NSKeyPathExpression": ["NSFunctionExpression", "NSExpression"],
        "NSKeyPathSpecifierExpression": ["NSExpression"],
        "NSSelfExpression": ["NSExpression"],
    ]
}

package import ManagedObjectModel

/// The object table of an `NSKeyedArchiver` archive, for readers that follow its references.
///
/// Objects may refer to each other in circles, so nothing is unfolded here: a reader asks for
/// one object at a time. What it lists is counted against `itemLimit`, so that an archive whose
/// objects share lists cannot make it work without end.
package struct KeyedArchive {
    /// The most elements of lists and dictionaries that may be asked for; the largest archive
    /// known holds some thousands.
    package static let itemLimit = 1_000_000
    /// Fields of one object, which are looked up one after the other; Core Data's have some
    /// twenty.
    private static let fieldLimit = 256

    /// Text and data count as one item for each so many bytes: many objects may share them, and
    /// code that hashes or writes a model handles each one again.
    private static let bytesPerItem = 32

    private let objects: [PropertyList]
    private let top: PropertyList
    private var itemsLeft = itemLimit

    /// Reads the table.
    ///
    /// - Throws: `ModelError.malformed` where the bytes are no binary property list or that is
    ///   no keyed archive.
    package init(_ bytes: [UInt8]) throws(ModelError) {
        let list = try BinaryPropertyList.read(bytes)
        guard list["$archiver"] == .string("NSKeyedArchiver"),
            let objects = list["$objects"]?.elements, let top = list["$top"]?.entries,
            let root = top.first(where: { $0.key == "root" }) ?? top.first
        else {
            throw .malformed("the property list is not a keyed archive")
        }
        self.objects = objects
        self.top = root.value
    }

    /// The object that the archive was made of.
    ///
    /// - Throws: `ModelError.malformed` where it is missing.
    package func root() throws(ModelError) -> ArchivedObject {
        guard let root = try object(top) else {
            throw .malformed("the keyed archive has no root object")
        }
        return root
    }

    /// What a reference leads to; nil for nil and for a reference to null.
    ///
    /// Number 0 is null in every archive. A value that is no reference stands for itself.
    ///
    /// - Throws: `ModelError.malformed` where it leads out of the table.
    package func value(_ reference: PropertyList?) throws(ModelError) -> PropertyList? {
        guard case .uid(let number)? = reference else { return reference }
        guard number != 0 else { return nil }
        guard let index = Int(exactly: number), index < objects.count else {
            throw .malformed("the keyed archive refers to object \(number), which it lacks")
        }
        let value = objects[index]
        if case .uid = value {
            throw .malformed("object \(number) of the keyed archive is a reference")
        }
        return value
    }

    /// The object that a reference leads to; nil for null.
    ///
    /// - Throws: `ModelError.malformed` where it leads to something else.
    package func object(_ reference: PropertyList?) throws(ModelError) -> ArchivedObject? {
        guard let value = try value(reference) else { return nil }
        guard let object = try objectOrNil(value) else {
            throw .malformed("the keyed archive has a plain value where an object belongs")
        }
        return object
    }

    /// The value as an object; nil where it is a plain value.
    package func objectOrNil(_ value: PropertyList) throws(ModelError) -> ArchivedObject? {
        guard case .dictionary(let fields) = value, let reference = value["$class"] else {
            return nil
        }
        guard let name = try self.value(reference)?["$classname"]?.text else {
            throw .malformed("the keyed archive has an object without a class")
        }
        guard fields.count <= Self.fieldLimit else {
            throw .malformed("an object of the keyed archive has \(fields.count) fields")
        }
        return ArchivedObject(className: name, fields: fields)
    }

    /// The text that a reference leads to, mutable strings included; nil for null.
    ///
    /// - Throws: `ModelError.malformed` where it leads to something else.
    package mutating func text(_ reference: PropertyList?) throws(ModelError) -> String? {
        guard let value = try value(reference) else { return nil }
        guard let text = try textOrNil(value) else {
            throw .malformed("the keyed archive has no text where text belongs")
        }
        return text
    }

    /// The text that a value is; nil where it is none.
    package mutating func textOrNil(_ value: PropertyList) throws(ModelError) -> String? {
        var found = value.text
        if found == nil, let object = try objectOrNil(value),
            object.className == "NSString" || object.className == "NSMutableString"
        {
            found = try self.value(object["NS.string"])?.text
        }
        try spend((found?.utf8.count ?? 0) / Self.bytesPerItem)
        return found
    }

    /// The bytes that a value is, mutable data included; nil where it is none.
    package mutating func dataOrNil(_ value: PropertyList) throws(ModelError) -> [UInt8]? {
        var found = value.bytes
        if found == nil, let object = try objectOrNil(value),
            object.className == "NSData" || object.className == "NSMutableData"
        {
            found = try self.value(object["NS.data"])?.bytes
        }
        try spend((found?.count ?? 0) / Self.bytesPerItem)
        return found
    }

    /// Whether a flag is set; absent flags are not.
    package func flag(_ reference: PropertyList?) throws(ModelError) -> Bool {
        switch try value(reference) {
        case nil: return false
        case .boolean(let flag)?: return flag
        case .integer(let number)?: return number != 0
        default: throw .malformed("the keyed archive has no flag where a flag belongs")
        }
    }

    /// The integer that a reference leads to; nil where there is none.
    ///
    /// - Throws: `ModelError.malformed` for other values and for integers beyond 64 bits.
    package func integer(_ reference: PropertyList?) throws(ModelError) -> Int64? {
        guard let value = try value(reference) else { return nil }
        if case .boolean(let flag) = value { return flag ? 1 : 0 }
        guard let number = value.integer64 else {
            throw .malformed("the keyed archive has no integer where an integer belongs")
        }
        return number
    }

    /// The references that an array or a set holds; empty for null.
    ///
    /// - Throws: `ModelError.malformed` for other objects, and where `itemLimit` is passed.
    package mutating func list(
        _ reference: PropertyList?
    ) throws(ModelError) -> [PropertyList] {
        guard let object = try object(reference) else { return [] }
        guard object.isList, let references = object["NS.objects"]?.elements else {
            throw .malformed(
                "the keyed archive has a \(object.className) where a list belongs")
        }
        try spend(references.count)
        return references
    }

    /// The keys of a dictionary with their references; empty for null.
    ///
    /// Core Data's `NSKnownKeysDictionary1` keeps its keys in a search mapping; its slots
    /// without a value hold a token.
    ///
    /// - Throws: `ModelError.malformed` for other objects, and where `itemLimit` is passed.
    package mutating func dictionary(
        _ reference: PropertyList?
    ) throws(ModelError) -> [(key: String, value: PropertyList)] {
        guard let object = try object(reference) else { return [] }
        let keys: [PropertyList]
        let values: [PropertyList]
        switch object.className {
        case "NSDictionary", "NSMutableDictionary":
            keys = object["NS.keys"]?.elements ?? []
            values = object["NS.objects"]?.elements ?? []
            try spend(keys.count)
        case "NSKnownKeysDictionary1":
            keys = try list(self.object(object["searchMapping"])?["keys"])
            values = try list(object["values"])
        default:
            throw .malformed(
                "the keyed archive has a \(object.className) where a dictionary belongs")
        }
        guard keys.count == values.count else {
            throw .malformed("a dictionary of the keyed archive has more keys than values")
        }
        let emptySlot = object["emptyToken"]
        var pairs: [(key: String, value: PropertyList)] = []
        pairs.reserveCapacity(keys.count)
        for (key, value) in zip(keys, values) where emptySlot == nil || value != emptySlot {
            guard let text = try text(key) else {
                throw .malformed("a dictionary of the keyed archive has a null key")
            }
            pairs.append((text, value))
        }
        return pairs
    }

    /// Counts work; every recursion over shared objects must spend, or it may not end.
    package mutating func spend(_ count: Int) throws(ModelError) {
        guard count <= itemsLeft else {
            throw .malformed("the keyed archive lists more than \(Self.itemLimit) items")
        }
        itemsLeft -= count
    }
}

/// One object of a keyed archive: its class and what it encoded.
package struct ArchivedObject {
    /// Such as `NSEntityDescription`.
    package let className: String
    let fields: [PropertyList.Entry]

    /// The value or reference encoded for a key; nil where there is none.
    package subscript(key: String) -> PropertyList? {
        fields.first { $0.key == key }?.value
    }

    var isList: Bool {
        switch className {
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet": true
        default: false
        }
    }
}

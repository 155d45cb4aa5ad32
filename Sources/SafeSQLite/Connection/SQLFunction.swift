import GRDBSQLite

/// The arguments of a call of an SQL function, read where SQLite has them.
///
/// Valid within the call alone. Conversions of SQLite apply to an argument that is asked for as
/// another type than its own.
package struct FunctionArguments {
    private let values: UnsafeMutablePointer<OpaquePointer?>
    /// How many there are.
    package let count: Int
    private let context: OpaquePointer?

    fileprivate init(
        _ values: UnsafeMutablePointer<OpaquePointer?>, count: Int, context: OpaquePointer?
    ) {
        self.values = values
        self.count = count
        self.context = context
    }

    /// SQLite's storage class of an argument: 1 integer, 2 real, 3 text, 4 blob, 5 NULL.
    package func storageClass(_ place: Int) -> Int32 { sqlite3_value_type(values[place]) }

    /// An argument as an integer.
    package func integer(_ place: Int) -> Int64 { sqlite3_value_int64(values[place]) }

    /// An argument as a real number.
    package func real(_ place: Int) -> Double { sqlite3_value_double(values[place]) }

    /// The bytes of a text, all of them although one is a NUL.
    package func text(_ place: Int) -> UnsafeRawBufferPointer {
        let value = values[place]
        guard let start = sqlite3_value_text(value) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    /// The bytes of a blob, or of a text.
    package func bytes(_ place: Int) -> UnsafeRawBufferPointer {
        guard storageClass(place) == SQLITE_BLOB else { return text(place) }
        guard let start = sqlite3_value_blob(values[place]) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(
            start: start, count: Int(sqlite3_value_bytes(values[place])))
    }

    /// Makes a text in UTF-8 the result of the call, which then returns `given`.
    package func give(text: UnsafeRawBufferPointer) {
        sqlite3_result_text64(
            context, text.baseAddress ?? UnsafeRawPointer(bitPattern: 1), UInt64(text.count),
            transient, UInt8(SQLITE_UTF8))
    }

    /// An argument that is the result of a call.
    fileprivate func value(_ place: Int) -> OpaquePointer? { values[place] }
}

/// What a call of an SQL function gives.
package enum FunctionResult {
    case null
    case integer(Int64)
    case real(Double)
    /// A text in UTF-8.
    case text([UInt8])
    case blob([UInt8])
    /// The argument of that place as it is.
    case argument(Int)
    /// The text that the call has given already.
    case given
}

/// Functions of the program that statements call.
///
/// Those of GRDB copy every argument and end a text at its first NUL: a function that is called for
/// every row took longer than all the rest of a copy.
package enum SQLFunction {
    /// Makes a function known to the statements of a connection.
    ///
    /// - Parameters:
    ///   - name: whose calls the guard of statements lets through (`CSQLite`).
    ///   - connection: that is used by one thread at a time.
    ///   - argumentCount: nil for any number.
    ///   - isPure: whether equal arguments always give the same.
    ///   - body: computes a result. The statement fails with the description of what it throws.
    /// - Throws: `StoreError` with SQLite's reason.
    package static func add(
        _ name: String, to connection: Connection, argumentCount: Int? = nil, isPure: Bool,
        _ body: @escaping (FunctionArguments) throws -> FunctionResult
    ) throws(StoreError) {
        let code = sqlite3_create_function_v2(
            connection.handle, name, Int32(argumentCount ?? -1),
            SQLITE_UTF8 | (isPure ? SQLITE_DETERMINISTIC : 0),
            Unmanaged.passRetained(FunctionBody(body)).toOpaque(), callFunction, nil, nil,
            releaseFunction)
        guard code == SQLITE_OK else { throw connection.failure(code) }
    }
}

private final class FunctionBody {
    let body: (FunctionArguments) throws -> FunctionResult

    init(_ body: @escaping (FunctionArguments) throws -> FunctionResult) { self.body = body }
}

private func releaseFunction(_ pointer: UnsafeMutableRawPointer?) {
    guard let pointer else { return }
    Unmanaged<FunctionBody>.fromOpaque(pointer).release()
}

private func callFunction(
    _ context: OpaquePointer?, _ count: Int32,
    _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let pointer = sqlite3_user_data(context), let values else { return }
    let arguments = FunctionArguments(values, count: Int(count), context: context)
    do {
        // The connection holds the body for as long as the function is known.
        let result = try Unmanaged<FunctionBody>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
            try $0.body(arguments)
        }
        set(result, arguments, of: context)
    } catch {
        sqlite3_result_error(context, "\(error)", -1)
    }
}

/// SQLite copies what is given to it.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

private func set(
    _ result: FunctionResult, _ arguments: FunctionArguments, of context: OpaquePointer?
) {
    switch result {
    case .null: sqlite3_result_null(context)
    case .integer(let number): sqlite3_result_int64(context, number)
    case .real(let number): sqlite3_result_double(context, number)
    case .text(let bytes): bytes.withUnsafeBytes { arguments.give(text: $0) }
    case .blob(let bytes):
        bytes.withUnsafeBytes {
            if let start = $0.baseAddress {
                sqlite3_result_blob64(context, start, UInt64($0.count), transient)
            } else {
                sqlite3_result_zeroblob(context, 0)
            }
        }
    case .argument(let place): sqlite3_result_value(context, arguments.value(place))
    case .given: break
    }
}

package import DurableFiles

/// An error of a layer that works on stores and files, which has a case for the errors of each
/// layer below it.
package protocol StoreAccessError: Error {
    /// A store could not be read or written.
    static func store(_ error: StoreError) -> Self
    /// A file could not be read or written.
    static func file(_ error: DurableFileError) -> Self
    /// Something that must hold did not; the text says what.
    static func internalError(_ text: String) -> Self
}

extension StoreAccessError {
    /// Runs a body and turns what the layers below throw into errors of this layer.
    ///
    /// - Throws: an error of this layer; what no layer is known to throw counts as a bug.
    package static func translating<Result>(_ body: () throws -> Result) throws(Self) -> Result {
        do {
            return try body()
        } catch let error as Self {
            throw error
        } catch let error as StoreError {
            throw .store(error)
        } catch let error as DurableFileError {
            throw .file(error)
        } catch {
            throw .internalError("\(error)")
        }
    }

    /// Runs a body and turns errors of the layers below into errors of this layer; any other
    /// error, such as one of the caller's own, passes as it is.
    package static func passing<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError {
            throw Self.store(error)
        } catch let error as DurableFileError {
            throw Self.file(error)
        }
    }
}

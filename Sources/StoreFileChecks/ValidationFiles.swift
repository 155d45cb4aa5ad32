package import DurableFiles

/// Where the files of both sides are.
package struct ValidationFiles: Hashable, Sendable {
    /// The database to read: the original at rest, or its snapshot.
    package var source: FilePath
    /// The folder of the source's external data.
    package var sourceExternalData: FilePath
    package var destination: FilePath
    /// The folder of the destination's external data; may be the source's.
    package var destinationExternalData: FilePath
    package var cacheKibibytes: Int

    package init(
        source: FilePath, sourceExternalData: FilePath, destination: FilePath,
        destinationExternalData: FilePath, cacheKibibytes: Int = 2048
    ) {
        self.source = source
        self.sourceExternalData = sourceExternalData
        self.destination = destination
        self.destinationExternalData = destinationExternalData
        self.cacheKibibytes = cacheKibibytes
    }
}

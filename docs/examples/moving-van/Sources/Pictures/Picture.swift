import CPictures
import Foundation

/// A JPEG that libvips made.
public struct Picture: Sendable {
    /// The file.
    public let data: Data
    /// Pixels of a row.
    public let width: Int
    /// Rows.
    public let height: Int

    /// libvips starts once, before the first picture.
    private static let isStarted = pictures_start() == 0

    private init(_ make: (inout pictures_jpeg) -> Int32) throws {
        var made = pictures_jpeg()
        guard Self.isStarted else { throw PictureError.notStarted }
        guard make(&made) == 0, let bytes = made.bytes else { throw PictureError.unreadable }
        data = Data(
            bytesNoCopy: bytes, count: made.length,
            deallocator: .custom { bytes, _ in pictures_free(bytes) })
        width = Int(made.width)
        height = Int(made.height)
    }

    /// Scales a picture down; a smaller one keeps its size.
    ///
    /// - Parameters:
    ///   - photo: a picture in any format that libvips reads.
    ///   - width: the most pixels of a row and of a column.
    /// - Returns: the thumbnail.
    /// - Throws: `PictureError`.
    public static func thumbnail(of photo: Data, width: Int32) throws -> Picture {
        try Picture { made in
            photo.withUnsafeBytes {
                pictures_thumbnail($0.baseAddress, $0.count, width, &made)
            }
        }
    }

    /// Makes a photo of about 600 KB.
    ///
    /// - Parameter number: another number gives another photo, the same one the same.
    /// - Returns: the photo.
    /// - Throws: `PictureError`.
    public static func photo(_ number: UInt32) throws -> Picture {
        try Picture { pictures_photo(number, &$0) }
    }
}

/// Why there is no picture.
public enum PictureError: Error {
    /// libvips did not start.
    case notStarted
    /// libvips cannot read the picture, or make one.
    case unreadable
}

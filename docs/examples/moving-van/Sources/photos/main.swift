import Foundation
import Pictures

// Writes photos to standard output, each behind its length in eight bytes, lowest first.
let words = CommandLine.arguments.dropFirst().map { UInt32($0) }
guard words.count == 3, let first = words[0], let count = words[1], let step = words[2], step > 0
else {
    FileHandle.standardError.write(Data("usage: photos FIRST COUNT STEP\n".utf8))
    exit(64)
}
for place in 0..<count {
    let photo = try Picture.photo(first + place * step)
    let length = withUnsafeBytes(of: UInt64(photo.data.count).littleEndian) { Data($0) }
    try FileHandle.standardOutput.write(contentsOf: length)
    try FileHandle.standardOutput.write(contentsOf: photo.data)
}

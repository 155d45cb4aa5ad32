import Foundation
import Godwit

/// What the example's policy does, without scaling: the thumbnail is a part of the photo.
struct ThumbnailPolicy: MigrationPolicy {
    static let className = "Inventory.ThumbnailPolicy"
    static let effects = PolicyEffects(sets: ["thumbnail"], creates: [.inserted("Thumbnail")])

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        guard let photo = try source.data("photo") else { return }
        let thumbnail = try context.insert("Thumbnail")
        try thumbnail.set("width", to: .integer(Int64(photo.count)))
        try thumbnail.set("height", to: 1)
        try thumbnail.set("picture", to: .data(photo.prefix(8)))
        try destination.associate("thumbnail", with: thumbnail)
    }
}

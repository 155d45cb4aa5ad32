import Godwit
import Pictures

/// Makes a thumbnail of every item's photo.
///
/// The photo itself goes to its own entity by the mapping model, without Swift.
struct ThumbnailPolicy: MigrationPolicy {
    static let className = "Inventory.ThumbnailPolicy"
    static let effects = PolicyEffects(sets: ["thumbnail"], creates: [.inserted("Thumbnail")])

    /// The most pixels of a row and of a column.
    private static let width: Int32 = 200

    func createDestinationInstances(
        for source: SourceObject, destination: DestinationObject, in context: MigrationContext
    ) throws {
        guard let photo = try source.data("photo") else { return }
        let scaled: Picture
        do {
            scaled = try Picture.thumbnail(of: photo, width: Self.width)
        } catch {
            throw PolicyRefusal("libvips cannot read the photo")
        }
        let thumbnail = try context.insert("Thumbnail")
        try thumbnail.set("width", to: .integer(Int64(scaled.width)))
        try thumbnail.set("height", to: .integer(Int64(scaled.height)))
        try thumbnail.set("picture", to: .data(scaled.data))
        try destination.associate("thumbnail", with: thumbnail)
    }
}

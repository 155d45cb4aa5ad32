import CoreDataStore
import DurableFiles
import SafeSQLite
import StoreForge

/// Photos inside items that move to an entity of their own, with a thumbnail by a policy.
enum MovingVan {
    /// `godwit demo moving-van`.
    static let scenario = Scenario(
        name: "moving-van", unit: "photos", objects: 500,
        files: ModelSource.bundle("Inventory", [inventory(1), inventory(2)]).merging(
            ["moving-van.yaml": movingVanMapping], uniquingKeysWith: { first, _ in first }),
        package: WorkerPackage(name: "moving-van", library: "libvips-dev") {
            folder, objects, programs in
            let photos = try PhotoSource(program: programs.appending("photos"), count: objects)
            try Scenario.forge(
                folder.appending("inventory.sqlite"),
                model: folder.appending("Inventory.xcdatamodeld/Inventory 1.xcdatamodel"), seed: 14
            ) { recipe in
                // Some items have no photo.
                recipe.rows = ["Item": objects + objects / 50 + 1]
                recipe.contents = [PropertyKey("Item", "photo"): { try photos.photo($0) }]
            }
            try photos.finish()
        },
        steps: { _ in
            [
                .say("The plan: the mapping splits photos off, a policy makes thumbnails."),
                .run(["plan", "inventory.sqlite"] + movingVanOptions),
                .say("The photos move, by worker processes that carry the policy:"),
                .run(
                    ["migrate", "inventory.sqlite"] + movingVanOptions + ["--output", "migrated"]),
                .run(["inspect", "migrated/inventory.sqlite"]),
                .act("The first photo and its thumbnail, to look at: photo.jpg, thumbnail.jpg") {
                    folder in
                    let connection = try Connection(
                        path: folder.appending("migrated/inventory.sqlite"), mode: .immutable)
                    try writeFirst("SELECT ZDATA FROM ZIMAGE", connection, folder, "photo.jpg")
                    try writeFirst(
                        "SELECT ZPICTURE FROM ZTHUMBNAIL", connection, folder, "thumbnail.jpg")
                    try connection.close()
                },
            ]
        })

    private static let movingVanOptions = [
        "--to", "Inventory.xcdatamodeld", "--mapping", "moving-van.yaml",
    ]

    private static func writeFirst(
        _ query: SQLText, _ connection: Connection, _ folder: FilePath, _ name: FilePath
    ) throws {
        let statement = try connection.prepare(query)
        guard try statement.step(), let bytes = statement.blob(0) else { return }
        try DurableFileSystem().publish(
            bytes, to: folder.appending(name), permissions: 0o644)
    }

    private static func inventory(_ version: Int) -> (name: String, entities: [String]) {
        let item = [
            ModelSource.attribute("name", "String"),
            ModelSource.attribute("identifier", "UUID", optional: false),
            ModelSource.attribute("boughtOn", "Date"),
        ]
        guard version == 2 else {
            return (
                "Inventory 1",
                [ModelSource.entity("Item", item + [ModelSource.attribute("photo", "Binary")])]
            )
        }
        return (
            "Inventory 2",
            [
                ModelSource.entity(
                    "Item",
                    item + [
                        ModelSource.relationship("image", to: "Image", inverse: "item"),
                        ModelSource.relationship("thumbnail", to: "Thumbnail", inverse: "item"),
                    ]),
                ModelSource.entity(
                    "Image",
                    [
                        ModelSource.attribute("data", "Binary"),
                        ModelSource.relationship("item", to: "Item", inverse: "image"),
                    ]),
                ModelSource.entity(
                    "Thumbnail",
                    [
                        ModelSource.attribute("picture", "Binary"),
                        ModelSource.attribute("width", "Integer 32", value: "0"),
                        ModelSource.attribute("height", "Integer 32", value: "0"),
                        ModelSource.relationship("item", to: "Item", inverse: "thumbnail"),
                    ]),
            ]
        )
    }

    private static let movingVanMapping = """
        godwit-mapping: 1
        entities:
          - entity: Item
            policy: Inventory.ThumbnailPolicy
            relationships:
              image: {source: $source, mapping: Images}
          - source: Item
            destination: Image
            name: Images
            filter: photo != nil
            attributes: {data: $source.photo}
          - add: Thumbnail

        """
}

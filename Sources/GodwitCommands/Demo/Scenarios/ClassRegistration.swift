import DurableFiles
import StoreForge

/// Entities that inherit from each other, joined by registrations.
enum ClassRegistration {
    /// `godwit demo class-registration`.
    static let scenario = Scenario(
        name: "class-registration", unit: "registrations", objects: 100_000,
        files: ModelSource.bundle("School", [school(1), school(2)]).merging(
            ["school.yaml": schoolMapping], uniquingKeysWith: { first, _ in first }),
        prepare: { folder, objects in
            let model = "School.xcdatamodeld/School 1.xcdatamodel"
            try Scenario.forge(
                folder.appending("school.sqlite"), model: folder.appending(model), seed: 11
            ) { recipe in
                recipe.rows = [
                    "Person": objects / 20, "Student": objects / 5, "Course": objects / 100,
                    "Class": objects / 20, "Registration": objects,
                ]
            }
        },
        steps: { _ in
            [
                .say("What the mapping does, entity by entity:"),
                .run(["mapping", "show", "school.yaml"]),
                .say("Copy, link and validate in chunks; the original is only read:"),
                .run(
                    [
                        "migrate", "school.sqlite", "--to", "School.xcdatamodeld", "--mapping",
                        "school.yaml", "--partition", "key", "--chunk-bytes", "1MiB", "--output",
                        "migrated",
                    ]),
                .say("Check the result once more, and look at it:"),
                .run(
                    [
                        "verify", "school.sqlite", "migrated/school.sqlite", "--mapping",
                        "school.yaml",
                    ]),
                .run(["inspect", "migrated/school.sqlite"]),
            ]
        })

    private static func school(_ version: Int) -> (name: String, entities: [String]) {
        let isNew = version == 2
        let session = isNew ? "Session" : "Class"
        let link = isNew ? "session" : "class"
        return (
            "School \(version)",
            [
                ModelSource.entity(
                    "Person",
                    [
                        identifier,
                        ModelSource.attribute(isNew ? "fullName" : "name", "String"),
                        ModelSource.attribute("born", "Date"),
                    ]),
                ModelSource.entity(
                    "Student", parent: "Person",
                    [
                        ModelSource.attribute("number", isNew ? "String" : "Integer 64"),
                        ModelSource.relationship(
                            "registrations", to: "Registration", inverse: "student", many: true),
                    ]),
                ModelSource.entity("Course", [ModelSource.attribute("title", "String")]),
                ModelSource.entity(
                    session, parent: "Course",
                    [
                        ModelSource.attribute("room", "String"),
                        ModelSource.relationship(
                            "registrations", to: "Registration", inverse: link, many: true),
                    ] + (isNew ? [ModelSource.attribute("seatsTaken", "Integer 32")] : [])),
                ModelSource.entity(
                    "Registration",
                    [
                        identifier,
                        ModelSource.attribute("enrolledOn", "Date"),
                        ModelSource.relationship(
                            "student", to: "Student", inverse: "registrations"),
                        ModelSource.relationship(link, to: session, inverse: "registrations"),
                    ] + (isNew ? [ModelSource.attribute("label", "String")] : [])),
            ]
        )
    }

    private static let identifier = ModelSource.attribute("identifier", "UUID", optional: false)

    private static let schoolMapping = """
        godwit-mapping: 1
        entities:
          - entity: Person
            attributes: {fullName: $source.name}
          - entity: Student
            attributes:
              fullName: $source.name
              number: convert
          - entity: Course
          - source: Class
            destination: Session
            attributes:
              seatsTaken: $source.registrations.@count
          - entity: Registration
            attributes:
              label: $source.class.title
            relationships:
              session: {source: $source.class, mapping: ClassToSession}

        """
}

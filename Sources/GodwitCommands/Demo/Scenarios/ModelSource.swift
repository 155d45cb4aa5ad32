/// Models in Xcode's form, as text.
enum ModelSource {
    /// The `contents` of a model version.
    static func model(_ identifier: String, _ entities: [String]) -> String {
        (["<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>"]
            + [
                "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\" "
                    + "userDefinedModelVersionIdentifier=\"\(identifier)\">"
            ] + entities + ["</model>", ""]).joined(separator: "\n")
    }

    /// An entity with the lines of its properties.
    static func entity(
        _ name: String, parent: String? = nil, unique: String? = nil, renamed: String? = nil,
        _ properties: [String]
    ) -> String {
        var head = "  <entity name=\"\(name)\" representedClassName=\"\(name)\""
        if let parent { head += " parentEntity=\"\(parent)\"" }
        if let renamed { head += " elementID=\"\(renamed)\"" }
        var lines = [head + " syncable=\"YES\">"] + properties.map { "    \($0)" }
        if let unique {
            lines += [
                "    <uniquenessConstraints><uniquenessConstraint>",
                "      <constraint value=\"\(unique)\"/>",
                "    </uniquenessConstraint></uniquenessConstraints>",
            ]
        }
        return (lines + ["  </entity>"]).joined(separator: "\n")
    }

    /// An attribute; `type` as Xcode writes it.
    static func attribute(
        _ name: String, _ type: String, optional: Bool = true, value: String? = nil,
        renamed: String? = nil
    ) -> String {
        "<attribute name=\"\(name)\"" + (optional ? " optional=\"YES\"" : "")
            + " attributeType=\"\(type)\"" + (value.map { " defaultValueString=\"\($0)\"" } ?? "")
            + (renamed.map { " elementID=\"\($0)\"" } ?? "") + "/>"
    }

    /// A relationship to one object, or to many.
    static func relationship(
        _ name: String, to destination: String, inverse: String, many: Bool = false,
        renamed: String? = nil
    ) -> String {
        "<relationship name=\"\(name)\" optional=\"YES\""
            + (many ? " toMany=\"YES\"" : " maxCount=\"1\"")
            + " deletionRule=\"Nullify\" destinationEntity=\"\(destination)\" "
            + "inverseName=\"\(inverse)\" inverseEntity=\"\(destination)\""
            + (renamed.map { " elementID=\"\($0)\"" } ?? "") + "/>"
    }

    /// The files of a bundle by their paths: versions in order, of which the last is current.
    static func bundle(
        _ name: String, _ versions: [(name: String, entities: [String])]
    ) -> [String: String] {
        var files: [String: String] = [:]
        for version in versions {
            files["\(name).xcdatamodeld/\(version.name).xcdatamodel/contents"] = model(
                version.name, version.entities)
        }
        files["\(name).xcdatamodeld/.xccurrentversion"] = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
              <key>_XCCurrentVersionName</key>
              <string>\(versions.last?.name ?? "").xcdatamodel</string>
            </dict></plist>

            """
        return files
    }
}

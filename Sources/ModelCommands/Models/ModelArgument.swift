import ArgumentParser
import ModelFiles

/// The text of `--to`, `--from` and the model commands, taken apart by its form alone.
package struct ModelArgument: Hashable, Sendable {
    /// What the text names.
    package enum Form: Hashable, Sendable {
        /// The store's own model.
        case itself
        /// A model version of Xcode: the folder, or the `contents` file in it.
        case source(String)
        /// A folder of model versions of Xcode.
        case sourceBundle(String, version: String?)
        /// A compiled model version.
        case compiled(String)
        /// A folder of compiled model versions.
        case compiledBundle(String, version: String?)
        /// Every other path: a store that holds its model.
        case store(String)
    }

    /// As the user wrote it.
    package let text: String
    /// What it names.
    package let form: Form

    /// Reads the text; nothing on disk is looked at.
    init(_ text: String) {
        self.text = text
        form = ModelArgument.form(of: text)
    }

    /// Whether the text names one version: all but bundles without `:VERSION`.
    var namesVersion: Bool {
        switch form {
        case .sourceBundle(_, let version), .compiledBundle(_, let version): version != nil
        case .itself, .source, .compiled, .store: true
        }
    }

    /// The file or folder of a model that was read, for annotations.
    func file(of loaded: LoadedModel) -> String {
        loaded.versions.map { $0.path(of: $0.chosen) } ?? text
    }

    private static func form(of text: String) -> Form {
        if text == "self" { return .itself }
        if let (folder, version) = bundle(text, ending: ".xcdatamodeld") {
            return .sourceBundle(folder, version: version)
        }
        if let (folder, version) = bundle(text, ending: ".momd") {
            return .compiledBundle(folder, version: version)
        }
        let path = withoutSlashes(text[...])
        if path.hasSuffix(".xcdatamodel") || path.hasSuffix(".xcdatamodel/contents") {
            return .source(String(path))
        }
        if path.hasSuffix(".mom") { return .compiled(String(path)) }
        return .store(text)
    }

    /// The folder and the version of `FOLDER` or `FOLDER:VERSION`; nil for other endings.
    ///
    /// The last colon counts that stands right behind the ending.
    private static func bundle(
        _ text: String, ending: String
    ) -> (folder: String, version: String?)? {
        let whole = withoutSlashes(text[...])
        if whole.hasSuffix(ending) { return (String(whole), nil) }
        for colon in text.indices.reversed() where text[colon] == ":" {
            let folder = withoutSlashes(text[..<colon])
            guard folder.hasSuffix(ending) else { continue }
            let version = text[text.index(after: colon)...]
            // A version is one name: what holds a slash is a path below another folder.
            guard !version.isEmpty, !version.contains("/") else { return nil }
            return (String(folder), String(version))
        }
        return nil
    }

    private static func withoutSlashes(_ text: Substring) -> Substring {
        var rest = text
        while rest.count > 1, rest.hasSuffix("/") { rest.removeLast() }
        return rest
    }
}

extension ModelArgument: ExpressibleByArgument {
    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.init(argument)
    }
}

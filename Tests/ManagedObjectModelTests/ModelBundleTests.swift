import Foundation
import ModelFiles
import TestSupport
import Testing

@testable import ManagedObjectModel

@Suite struct ModelBundleTests {
    /// A bundle with versions, each with one entity named like the version.
    private func withBundle(
        _ versions: [String], current: String?, _ body: (URL) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            let bundle = folder.appendingPathComponent("M.xcdatamodeld")
            for version in versions {
                let model = bundle.appendingPathComponent("\(version).xcdatamodel")
                try FileManager.default.createDirectory(
                    at: model, withIntermediateDirectories: true)
                let xml = Samples.xml("<entity name=\"\(version)\"/>")
                try Data(xml.utf8).write(to: model.appendingPathComponent("contents"))
            }
            if let current {
                try Data(current.utf8).write(
                    to: bundle.appendingPathComponent(".xccurrentversion"))
            }
            try body(bundle)
        }
    }

    private func list(_ content: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
        "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict>\(content)</dict></plist>
        """
    }

    private func naming(_ name: String) -> String {
        list("<key>_XCCurrentVersionName</key><string>\(name)</string>")
    }

    @Test func currentVersionOrNamedOne() throws {
        try withBundle(["B", "A"], current: naming("A.xcdatamodel")) { (bundle: URL) throws in
            #expect(try ModelBundle.versions(of: bundle) == ["A", "B"])
            #expect(try ModelBundle.currentVersion(of: bundle) == "A")
            #expect(try ModelBundle.read(bundle).entities.keys.first == "A")
            #expect(try ModelBundle.read(bundle, version: "B").entities.keys.first == "B")
            #expect(
                try ModelBundle.read(bundle, version: "B.xcdatamodel").entities.keys.first == "B")
        }
    }

    @Test func oneModelAloneIsTheCurrentOne() throws {
        try withBundle(["A"], current: nil) { (bundle: URL) throws in
            #expect(try ModelBundle.read(bundle).entities.keys.first == "A")
        }
    }

    @Test func errorsNameTheVersionsThereAre() throws {
        func refusal(_ bundle: URL, version: String? = nil) -> String {
            let error = #expect(throws: ModelError.self) {
                try ModelBundle.read(bundle, version: version)
            }
            return error?.description ?? ""
        }
        try withBundle(["A", "B"], current: nil) { (bundle: URL) throws in
            #expect(refusal(bundle).hasSuffix("/M.xcdatamodeld:B. It has: A, B"))
            #expect(refusal(bundle, version: "C").hasSuffix("no version C. It has: A, B"))
            #expect(refusal(bundle, version: "../M.xcdatamodeld/A").hasSuffix("It has: A, B"))
        }
        try withBundle(["A", "B"], current: list("")) { (bundle: URL) throws in
            #expect(refusal(bundle).hasSuffix("/M.xcdatamodeld:B. It has: A, B"))
        }
        try withBundle(["A", "B"], current: naming("../A.xcdatamodel")) { (bundle: URL) throws in
            #expect(
                refusal(bundle).contains(
                    "/M.xcdatamodeld:B. It has: A, B"))
        }
        try withBundle(["A", "B"], current: "garbage {") { (bundle: URL) throws in
            #expect(refusal(bundle).contains("is not a property list"))
        }
        try withBundle(["A", "B"], current: String(repeating: " ", count: 5000)) {
            (bundle: URL) throws in
            #expect(refusal(bundle).contains("more than 4096 bytes"))
        }
        try withTemporaryFolder { folder in
            #expect(refusal(folder).contains("holds no .xcdatamodel"))
            #expect(refusal(folder.appendingPathComponent("none")).contains("none"))
        }
    }

    @Test func versionsAreInTheirNaturalOrder() throws {
        let names = ["App 10", "App", "App 9", "2.100", "2.21"]
        #expect(VersionOrder.sorted(names) == ["2.21", "2.100", "App", "App 9", "App 10"])
        let all = ["M", "M 2", "M 3", "M 10"]
        #expect(VersionOrder.newer(than: "M 2", current: "M 10", all: all) == ["M 3", "M 10"])
        #expect(VersionOrder.newer(than: "M 2", current: "M", all: all) == ["M", "M 3", "M 10"])
        #expect(VersionOrder.newer(than: "M 3", current: nil, all: all) == ["M 10"])
        // What lies beyond the current version is not in use.
        #expect(VersionOrder.newer(than: "M 2", current: "M 2", all: all).isEmpty)
    }

    @Test func versionsAreReadOneByOne() throws {
        try withBundle(["M9", "M10", "M11"], current: naming("M10.xcdatamodel")) {
            (bundle: URL) throws in
            try Data("no model".utf8).write(
                to: bundle.appendingPathComponent("M11.xcdatamodel/contents"))
            let versions = try BundleVersions(source: bundle, version: "M9")
            #expect(versions.newer == ["M10", "M11"])
            #expect(try versions.read("M10").name == "M10")
            #expect(throws: ModelError.self) { try versions.read("M11") }
            let current = try BundleVersions(source: bundle, version: nil)
            #expect(current.chosen == "M10")
            #expect(current.newer == [])
        }
    }
}

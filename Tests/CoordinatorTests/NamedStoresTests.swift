import DurableFiles
import Foundation
import RunLedger
import StateFolders
import StoreDiscovery
import Testing

@testable import RunService
@testable import StoreRuns

/// What a coordinator says of the files that a request names.
@Suite("Stores that a request names") struct NamedStoresTests {
    @Test("where it finds no store it says what it left out and why")
    func absence() throws {
        try SharingLab.run { lab in
            let outside = try lab.forge("b.sqlite")
            let folder = lab.path("in")
            try lab.files.makeFolders(folder.appending("result"))
            try lab.files.publish(Array("hello".utf8), to: folder.appending("thumbs.db"))
            try FileManager.default.createSymbolicLink(
                atPath: folder.appending("b.sqlite").description,
                withDestinationPath: outside.description)
            let error = try #require(throws: RunError.self) {
                try ClusterRuns(lab.dependencies).discover(
                    StoreSelection(paths: [folder]), output: folder.appending("result"))
            }
            for words in [
                "b.sqlite (it is a symbolic link to", "thumbs.db (it is not an",
                "result (it is the folder of the results",
            ] {
                #expect("\(error)".contains(words), "\(error)")
            }
        }
    }

    @Test("a store behind a link out of the folder is told to a client that waits")
    func linkedStore() throws {
        try SharingLab.run { lab in
            let outside = try lab.forge("b.sqlite")
            let folder = lab.path("in")
            try lab.files.makeFolders(folder)
            try lab.forge("in/a.sqlite")
            try lab.files.publish([], to: folder.appending("c.sqlite"))
            try FileManager.default.createSymbolicLink(
                atPath: folder.appending("b.sqlite").description,
                withDestinationPath: outside.description)
            let found = try ClusterRuns(lab.dependencies).discover(
                StoreSelection(paths: [folder]), output: nil)
            #expect(
                found.stores.map(\.path)
                    == ["a.sqlite", "c.sqlite"].map { folder.appending($0) })
            let told = found.skipped.filter(\.needsAttention)
            #expect(told.map(\.path.lastComponent) == ["b.sqlite"])
            #expect(told.first.map { "\($0.reason)".contains("symbolic link") } == true)
        }
    }
}

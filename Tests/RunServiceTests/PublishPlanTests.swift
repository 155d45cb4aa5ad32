import DurableFiles
import Foundation
import TestSupport
import Testing

@testable import RunMoves
@testable import StoreRuns

/// A result gets its name, in runs that are killed at any moment.
@Suite struct PublishPlanTests {
    /// What was built is removed before the ledger has the end of its store.
    @Test(arguments: [false, true])
    func itIsCarriedOutAgainAfterItsFolderHasGone(hasSupport: Bool) throws {
        try withTemporaryFolder { url in
            let files = DurableFileSystem(links: .refused)
            let folder = FilePath(url.path)
            let places = StorePaths(attempt: folder.appending("attempt"))
            try files.makeFolders(places.building.parent)
            try files.publish([1, 2, 3], to: places.building)
            if hasSupport {
                try files.makeFolders(places.buildingSupport.appending("_EXTERNAL_DATA"))
            }
            let output = folder.appending("result.sqlite")
            let plan = try PublishPlan(
                places, output: StoreLocation(output),
                validated: try FileStatus(of: places.building).identity,
                source: try StoreFingerprint(of: places.building), of: places.building, files)
            for removes in [true, false] {
                try plan.run(files)
                #expect(try files.contents(of: output, limit: 10) == [1, 2, 3])
                let support = try FileStatus.ifPresent(folder.appending(".result_SUPPORT"))
                #expect((support != nil) == hasSupport)
                if removes { try files.removeTree(folder.appending("attempt")) }
            }
            // Another file has the name: nothing can be done.
            try files.publish([4], to: output)
            #expect(throws: DurableFileError.self) { try plan.run(files) }
            #expect(try files.contents(of: output, limit: 10) == [4])
        }
    }

    /// Plans that earlier versions recorded have the output as a path; its bytes may be any.
    @Test func aPlanRecordsItsOutputAsAPath() throws {
        struct Recorded: Codable, Equatable {
            let output: FilePath
        }
        try withTemporaryFolder { url in
            let files = DurableFileSystem(links: .refused)
            let folder = FilePath(url.path)
            let places = StorePaths(attempt: folder.appending("attempt"))
            try files.makeFolders(places.building.parent)
            try files.publish([1], to: places.building)
            let output = folder.appending(FilePath(bytes: [0x72, 0xFF, 0x22, 0x5C]))
            let plan = try PublishPlan(
                places, output: StoreLocation(output),
                validated: try FileStatus(of: places.building).identity,
                source: try StoreFingerprint(of: places.building), of: places.building, files)
            let text = try JSONEncoder().encode(plan)
            #expect(
                try JSONDecoder().decode(Recorded.self, from: text) == Recorded(output: output))
            let read = try JSONDecoder().decode(PublishPlan.self, from: text)
            #expect(read.output == StoreLocation(output))
        }
    }

    /// A publication that was stopped between its two renames, and will not be made.
    @Test func whatHasMovedIsTakenBack() throws {
        try withTemporaryFolder { url in
            let files = DurableFileSystem(links: .refused)
            let folder = FilePath(url.path)
            let places = StorePaths(attempt: folder.appending("attempt"))
            let data = places.buildingSupport.appending("_EXTERNAL_DATA")
            try files.makeFolders(data)
            try files.publish([7], to: data.appending("file"))
            try files.publish([1, 2, 3], to: places.building)
            let output = folder.appending("result.sqlite")
            let final = folder.appending(".result_SUPPORT")
            let plan = try PublishPlan(
                places, output: StoreLocation(output),
                validated: try FileStatus(of: places.building).identity,
                source: try StoreFingerprint(of: places.building), of: places.building, files)
            // Nothing has moved: nothing is taken back.
            #expect(try plan.takeBack(files) == nil)
            #expect(try FileStatus.ifPresent(data) != nil)
            try files.rename(places.buildingSupport, to: final, existing: .refuse)
            #expect(try plan.takeBack(files) == nil)
            #expect(try FileStatus.ifPresent(final) == nil)
            #expect(try files.contents(of: data.appending("file"), limit: 9) == [7])
            // It can still be made, and then its data stay.
            try plan.run(files)
            #expect(try plan.takeBack(files) == nil)
            #expect(
                try files.contents(
                    of: final.appending("_EXTERNAL_DATA").appending("file"), limit: 9) == [7])
            // A database that another program put there keeps them, too.
            try files.publish([9], to: output)
            #expect(try plan.takeBack(files) == output)
            #expect(try FileStatus.ifPresent(final) != nil)
            // A result that was moved elsewhere may need them.
            try files.remove(output)
            #expect(try plan.takeBack(files) == final)
            #expect(try FileStatus.ifPresent(final) != nil)
        }
    }

    /// What another program put into the folder of a stopped publication is not removed with it.
    @Test func aFolderWithSomethingElseIsNotTakenBack() throws {
        try withTemporaryFolder { url in
            let files = DurableFileSystem(links: .refused)
            let folder = FilePath(url.path)
            let places = StorePaths(attempt: folder.appending("attempt"))
            try files.makeFolders(places.buildingSupport)
            try files.publish([7], to: places.buildingSupport.appending("file"))
            try files.publish([1, 2, 3], to: places.building)
            let final = folder.appending(".result_SUPPORT")
            let plan = try PublishPlan(
                places, output: StoreLocation(folder.appending("result.sqlite")),
                validated: try FileStatus(of: places.building).identity,
                source: try StoreFingerprint(of: places.building), of: places.building, files)
            try files.rename(places.buildingSupport, to: final, existing: .refuse)
            try files.publish([8], to: final.appending("mine"))
            #expect(try plan.takeBack(files) == final)
            #expect(throws: DurableFileError.self) { try plan.run(files) }
            #expect(try FileStatus.ifPresent(folder.appending("result.sqlite")) == nil)
            try files.remove(places.buildingSupport.appending("mine"))
        }
    }
}

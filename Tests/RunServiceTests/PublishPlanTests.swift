import DurableFiles
import Foundation
import TestSupport
import Testing

@testable import RunService

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
                places, output: output,
                validated: try FileStatus(of: places.building).identity,
                source: try StoreFingerprint(of: places.building), files)
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
}

import DurableFiles
import RunLedger
import RunService
import StoreDiscovery
import StoreRuns
import Testing

/// One file that a run finds under several names.
@Suite("Stores with several names") struct AliasTests {
    /// Two swaps of one file would share its backup.
    @Test func aFileUnderTwoNamesIsSwappedOnce() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            try lab.files.hardLink(from: store, to: lab.path("b.sqlite"))
            var selection = StoreSelection()
            selection.paths = [lab.data]
            let inPlace = try NamedFleet(selection, output: nil, files: lab.files)
            #expect(inPlace.stores.map(\.path) == [store])
            #expect(inPlace.stores.map(\.number) == [1])
            #expect(inPlace.warnings.map(\.kind) == [.sameFile])
            let output = lab.folder.appending("out")
            let copies = try NamedFleet(selection, output: output, files: lab.files)
            #expect(copies.stores.count == 2)
        }
    }
}

import DurableFiles
import Foundation
import Glibc
import RunLedger
import StateFolders
import StoreForge
import Testing

@testable import RunMoves
@testable import StoreRuns

/// State folders whose records another user may have written.
@Suite("Other people's state folders") struct ForeignStateTests {
    /// What a state folder says is acted on only where no other user can have written it.
    @Test(arguments: ["others may write it", "another user's"])
    func aForeignStateFolderIsRefused(way: String) throws {
        try RunLab.run { lab in
            let store = try lab.forge("m.sqlite")
            let bytes = try lab.bytes()
            try lab.files.makeFolders(lab.state)
            if way == "others may write it" {
                try #require(chmod(lab.state.description, 0o770) == 0)
            } else if getuid() == 0 {
                try #require(chown(lab.state.description, 4242, 4242) == 0)
            } else {
                return
            }
            let error = #expect(throws: RunError.self) { try lab.migrate([store]) }
            guard case .file(.refusedPath(let path, let reason)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(path == lab.state && reason.contains("Give another state folder"))
            #expect(try lab.bytes() == bytes)
            #expect(try FileStatus.ifPresent(lab.state.appending(FilePath(Ledger.fileName))) == nil)
        }
    }

    /// A folder of ours may be one of kept originals that its neighbour renamed, with a store of
    /// the ledger's name in it.
    @Test(.enabled(if: geteuid() == 0, "only root gives files to others"))
    func aForeignLedgerIsRefused() throws {
        try RunLab.run { lab in
            let store = try lab.forge("m.sqlite")
            try lab.migrate([store])
            let ledger = lab.state.appending(FilePath(Ledger.fileName))
            let bytes = try lab.bytes()
            #expect(try StateFolder.isOwn(lab.state))
            try #require(chown(ledger.description, 4242, 4242) == 0)
            #expect(try !StateFolder.isOwn(lab.state))
            #expect(throws: RunError.self) { try lab.rollBack() }
            #expect(throws: RunError.self) { try lab.prune(removes: true) }
            #expect(try lab.bytes() == bytes)
            // A second name of it may be in anybody's folder.
            try #require(chown(ledger.description, geteuid(), getegid()) == 0)
            let second = lab.folder.appending("second")
            try lab.files.hardLink(from: ledger, to: second)
            #expect(throws: RunError.self) { try lab.rollBack() }
            try lab.files.unlink(second)
            #expect(try lab.rollBack().allSatisfy { $0.failure == nil })
        }
    }

    /// A link to another state folder, put in the place of this user's.
    @Test(.enabled(if: geteuid() == 0, "only root gives links to others"))
    func aForeignLinkToAStateFolderIsRefused() throws {
        try RunLab.run { lab in
            let store = try lab.forge("m.sqlite")
            try lab.migrate([store])
            let bytes = try lab.bytes()
            for (name, way) in [("last", "last"), ("above", "above/state")] {
                let link = lab.folder.appending(FilePath(name))
                let target = name == "last" ? lab.state : lab.state.parent
                try #require(symlink(target.description, link.description) == 0)
                let given = lab.folder.appending(FilePath(way))
                let selection = RunSelection(state: given)
                let rollback = RollbackRun(
                    selection, discardsChanges: false, environment: lab.environment())
                try #require(lchown(link.description, 4242, 4242) == 0)
                let error = #expect(throws: RunError.self) { try rollback.run { _ in } }
                #expect("\(String(describing: error))".contains("link owned by another user"))
                #expect(try lab.bytes() == bytes)
                // Our own links are followed.
                try #require(lchown(link.description, geteuid(), getegid()) == 0)
                #expect(throws: Never.self) { try StateFolder.refuseForeignLinks(given) }
            }
        }
    }
}

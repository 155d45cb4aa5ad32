import DurableFiles
import Jobs
import RunLedger
import StateFolders
import StoreRuns
import TestSupport
import Testing

@testable import RunService

/// A worker that lies about the stores that it wrote on the way to a result.
@Suite("Lies about stores on the way") struct LyingStepTests {
    private enum Lie: String, CaseIterable {
        case value, row, schema, otherStore, flipped, missing, doubled, linked, ownOrder
    }

    private func apply(_ lie: Lie, to forged: inout ForgedDelivery) throws {
        let files = forged.lab.files
        switch lie {
        case .value:
            try ForgedDelivery.edit(forged.step, "UPDATE ZNOTE SET ZTITLE = 'X' WHERE Z_PK = 1")
        case .row: try ForgedDelivery.edit(forged.step, "DELETE FROM ZTAG WHERE Z_PK = 1")
        case .schema:
            try ForgedDelivery.edit(
                forged.step,
                "CREATE TRIGGER t AFTER INSERT ON ZNOTE BEGIN DELETE FROM ZNOTE; END")
        case .otherStore:
            try forged.write(files.contents(of: forged.store, limit: 1 << 30), to: forged.step)
        case .flipped:
            var bytes = try files.contents(of: forged.step, limit: 1 << 30)
            bytes[bytes.count / 2] ^= 0x55
            try forged.write(bytes, to: forged.step)
        case .missing: forged.change(files: Array(forged.receipt.files.prefix(1)))
        case .doubled:
            let path = forged.folder.appending("store.sqlite_step-2")
            try forged.write(files.contents(of: forged.step, limit: 1 << 30), to: path)
            let told = forged.receipt.files[1]
            forged.change(
                files: forged.receipt.files + [
                    DeliveredFile(
                        file: FileReference(
                            root: told.file.root,
                            path: told.file.path.replacing("step-1", with: "step-2")),
                        bytes: told.bytes, digest: told.digest)
                ])
        case .linked:
            let outside = forged.lab.folder.appending("elsewhere")
            try files.rename(forged.step, to: outside, existing: .refuse)
            try files.linkWithoutSync(from: outside, to: forged.step)
        case .ownOrder:
            forged.change(files: forged.receipt.files.reversed())
        }
        if ![.missing, .doubled, .linked, .ownOrder].contains(lie) { try forged.relabel() }
    }

    @Test("no lie is accepted", arguments: Lie.allCases.indices)
    func refused(place: Int) throws {
        let lie = Lie.allCases[place]
        try SharingLab.run { lab in
            let honest = try ForgedDelivery(lab, isPublished: false, writesStep: true)
            #expect(honest.receipt.files.count == 2)
            let before = try lab.content(honest.store)
            var forged = honest
            try apply(lie, to: &forged)
            do {
                let admitted = try forged.deliveries.admit(forged.receipt)
                // A byte that nothing reads may be any; a second name of a file changes nothing.
                #expect([.flipped, .linked].contains(lie), "\(lie)")
                #expect(try forged.acceptedContent(admitted) == honest.content)
            } catch let error as RunError {
                #expect(error.cause == .badDelivery, "\(lie): \(error)")
            }
            #expect(try lab.content(honest.store) == before)
        }
    }

    @Test("an honest delivery is taken, also by a process that has not seen it")
    func honest() throws {
        for isRestarted in [false, true] {
            try SharingLab.run { lab in
                let honest = try ForgedDelivery(lab, isPublished: false, writesStep: true)
                let admitted = try honest.deliveries.admit(honest.receipt)
                try lab.ledger.append([.accepted(admitted, at: 1)])
                var deliveries = honest.deliveries
                if isRestarted {
                    try lab.reopen()
                    deliveries = ResultIntake(
                        of: try lab.find(honest.run.id), checked: ResultIntake.CheckedFiles())
                }
                let found = try #require(try lab.ledger.store(run: honest.run.id, 1)).found
                _ = try #require(try deliveries.move([found]).first).result.get()
                #expect(try lab.content(found.path) == honest.content)
                let left = try lab.files.names(in: lab.data).filter {
                    "\($0)".contains("step") || "\($0)".contains("accepted")
                }
                #expect(left.isEmpty)
            }
        }
    }
}

import DurableFiles
import Jobs
import MigrationEngine
import RunLedger
import StateFolders
import StoreRuns

/// Lays claim to the room of a run before it begins and gives it back store by store.
struct RunSpace {
    let context: RunContext

    /// Reserves space for every store that is still to be built.
    ///
    /// - Returns: what is missing; nil where there is enough. Nothing of the stores was begun.
    /// - Throws: `RunError` where the ledger or the disks cannot be looked at.
    func reserve() throws(RunError) -> SpaceShortage? {
        let quick = try survey(countsFreePages: false)
        guard try shortage(quick) != nil else { return nil }
        // Results have no free pages. Looking at that opens every store, so only now.
        return try shortage(try survey(countsFreePages: true))
    }

    private typealias Survey = (needs: [UInt64: SpaceNeed], folders: [UInt64: FilePath])

    /// Looks at all stores, page by page, and tells the ledger what each of them will take.
    private func survey(countsFreePages: Bool) throws(RunError) -> Survey {
        var measure = try measure()
        measure.countsFreePages = countsFreePages
        var plan = measure.plan
        var last: Int?
        while true {
            let page = try context.read { ledger throws(LedgerError) in
                try ledger.stores(
                    of: context.id, in: [.waiting, .running], after: last, limit: 1000)
            }
            guard let end = page.last?.number else { break }
            last = end
            var records: [LedgerRecord] = []
            for store in page {
                let made = store.state == .running ? places(of: store.found) : nil
                guard let size = measure.size(of: store.found, made: made) else { continue }
                plan.add(size)
                records += self.records(store.found, plan.result(of: size))
            }
            if !records.isEmpty { try context.record(records) }
        }
        return (plan.needs, measure.folders)
    }

    private func measure() throws(RunError) -> StoreMeasure {
        do throws(DurableFileError) {
            return try StoreMeasure(
                options: context.request.options, slots: context.request.slots,
                state: context.state, files: context.files)
        } catch {
            throw .file(error)
        }
    }

    /// Files that an earlier process may have made; nil for a store that is gone.
    private func places(of found: FoundStore) -> StorePaths? {
        do throws(RunError) {
            return try StoreRun(found, context: context, slots: 1).places
        } catch {
            return nil
        }
    }

    private func records(_ found: FoundStore, _ needs: [UInt64: SpaceNeed]) -> [LedgerRecord] {
        needs.sorted { $0.key < $1.key }.map { device, need in
            .reserved(
                Reservation(
                    run: context.id, store: found.number, device: device, bytes: need.bytes,
                    inodes: need.inodes))
        }
    }

    private func shortage(_ survey: Survey) throws(RunError) -> SpaceShortage? {
        let others = try context.read { ledger throws(LedgerError) in
            try ledger.reservations()
        }.filter { $0.run != context.id }
        for (device, need) in survey.needs.sorted(by: { $0.key < $1.key }) {
            guard let folder = survey.folders[device] else { continue }
            var reserved = SpaceNeed()
            for other in others where other.device == device {
                reserved += SpaceNeed(bytes: other.bytes, inodes: other.inodes)
            }
            do throws(DurableFileError) {
                if let shortage = try SpaceShortage(of: need, at: folder, reserved: reserved) {
                    return shortage
                }
            } catch {
                throw .file(error)
            }
        }
        return nil
    }

    /// What the ledger is told when a large store begins: result, snapshot and shards.
    func began(_ found: FoundStore) throws(RunError) -> [LedgerRecord] {
        var measure = try measure()
        guard let size = measure.size(of: found) else { return [] }
        let plan = measure.plan
        return records(
            found, plan.result(of: size).merging(plan.work(on: size)) { $0 + $1 })
    }
}

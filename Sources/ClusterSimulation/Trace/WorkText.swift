import RunSupervision

/// Works of runs as a trace shows them: the same text wherever it is made.
enum WorkText {
    static func text(_ work: RunWork) -> String {
        switch work {
        case .readStores(let reading):
            "read \(reading.count) stores of \(reading.run) after \(reading.cursor ?? -1)"
        case .readSwaps(let run, let numbers, _): "read swaps \(numbers) of \(run)"
        case .readStore(let key, _): "read \(key)"
        case .readReceipts(let key): "read receipts of \(key)"
        case .reopen(let run, let store): "reopen \(run) \(store ?? -1)"
        case .findValidated(let run, let store): "find validated of \(run) \(store ?? -1)"
        case .findRun(let run, let request, _): "find \(run) for \(request)"
        case .reserveSpace(let run): "reserve space for \(run)"
        case .end(let run, let isCancelled, let busy, _):
            "end \(run) cancelled \(isCancelled) but \(busy.sorted())"
        case .report(let run, _): "report \(run)"
        }
    }
}

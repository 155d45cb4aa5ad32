/// Durations for people.
package enum Seconds {
    /// `0.25 s`, `12.3 s`, `4 min 05 s`, `2 h 07 min`.
    package static func words(_ seconds: Double) -> String {
        let bounded = seconds.isFinite ? min(max(seconds, 0), 1e9) : 0
        if bounded < 9.995 { return decimal(bounded, scale: 100, digits: 2) }
        if bounded < 59.95 { return decimal(bounded, scale: 10, digits: 1) }
        let whole = Int64(bounded.rounded())
        if whole < 3600 { return "\(whole / 60) min \(padded(whole % 60)) s" }
        return "\(whole / 3600) h \(padded(whole % 3600 / 60)) min"
    }

    private static func decimal(_ seconds: Double, scale: Int64, digits: Int) -> String {
        let scaled = Int64((seconds * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return "\(scaled / scale).\(zeros)\(fraction) s"
    }

    private static func padded(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}

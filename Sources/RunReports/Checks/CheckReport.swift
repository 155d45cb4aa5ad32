/// What a command found, one case for each store or version, for programs that gate a build.
package struct CheckReport: Sendable {
    /// One store, or one version of a model.
    package struct Case: Sendable {
        package let name: String
        /// The file it is about, as the user would write it; nil where there is none.
        package let file: String?
        /// The line of the file, from 1; nil where it is about all of it.
        package let line: Int?
        /// Why it failed; nil where it passed.
        package var failure: Failure?
        /// What is worth a look although it passed.
        package var warnings: [String]
        package var seconds: Double

        package init(
            name: String, file: String? = nil, line: Int? = nil, failure: Failure? = nil,
            warnings: [String] = [], seconds: Double = 0
        ) {
            self.name = name
            self.file = file
            self.line = line
            self.failure = failure
            self.warnings = warnings
            self.seconds = seconds
        }

        /// The same case with the time that it took.
        package func taking(_ seconds: Double) -> Case {
            var one = self
            one.seconds = seconds
            return one
        }
    }

    /// Why a case failed.
    package struct Failure: Sendable {
        /// One word, such as the cause of a store's failure.
        package let kind: String
        /// The first line says it all in short.
        package let text: String
        /// Lower numbers are told first.
        package let rank: Int

        package init(kind: String, text: String, rank: Int = 0) {
            self.kind = kind
            self.text = text
            self.rank = rank
        }

        var firstLine: String {
            text.split(separator: "\n").first.map(String.init) ?? kind
        }
    }

    /// The command, such as `godwit plan`.
    package let name: String
    /// When it began, in UTC: `2026-01-31T12:00:00`.
    package let timestamp: String
    /// The machine.
    package let host: String
    package var cases: [Case] = []
    /// To which model the cases go; nil where the command line says it.
    package var destination: String?
    /// What is worth a look and concerns no single case.
    package var notes: [String] = []

    package init(name: String, timestamp: String, host: String) {
        self.name = name
        self.timestamp = timestamp
        self.host = host
    }

    /// The report of a command that could not begin.
    ///
    /// - Parameters:
    ///   - kind: one word for what is wrong.
    ///   - text: the command's message.
    /// - Returns: the report with one case, which failed.
    package func failed(_ kind: String, _ text: String) -> CheckReport {
        var report = self
        report.cases = [Case(name: name, failure: Failure(kind: kind, text: text))]
        return report
    }

    /// How many cases failed.
    var failures: Int { cases.count { $0.failure != nil } }
}

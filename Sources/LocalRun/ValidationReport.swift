package struct ValidationReport: Sendable { package var isEqual: Bool { true }; package var lines: [String] { [] } }

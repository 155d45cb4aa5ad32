import ArgumentParser
import RunReports

extension ByteSize: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }

    var defaultValueDescription: String { words }
}

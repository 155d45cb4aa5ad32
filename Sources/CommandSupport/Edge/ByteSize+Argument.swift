import ArgumentParser
import RunReports

extension ByteSize: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }

    var defaultValueDescription: String { words }
}

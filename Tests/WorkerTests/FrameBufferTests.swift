import Testing
@testable import Worker

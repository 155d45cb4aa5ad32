/// What becomes of references to objects that are gone.
package enum DanglingPolicy: String, Hashable, Sendable, Codable, CaseIterable {
    case keep, nullify
}

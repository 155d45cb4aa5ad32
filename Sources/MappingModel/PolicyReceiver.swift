extension PropertyMappingDefinition {
    /// Whether its value calls a method of the policy.
    package var callsPolicy: Bool {
        guard case .expression(let expression) = value else { return false }
        return expression.callsPolicy
    }
}

/// The variable behind which mapping models find the policy.
package enum PolicyReceiver {
    /// Without the dollar sign.
    package static let name = "entityPolicy"
}

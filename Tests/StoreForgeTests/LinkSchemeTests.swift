import Testing

@testable import StoreForge

/// Links that are computed, never kept.
@Suite("Forge: links")
struct LinkSchemeTests {
    @Test("permutations reach every number once and can be undone", arguments: 0...60)
    func permutation(count: Int) {
        for salt in UInt64(0)..<20 {
            let order = Permutation(count: count, salt: ForgeHash.mix(salt))
            let images = (0..<count).map(order.forward)
            #expect(images.sorted() == Array(0..<count))
            #expect(images.map(order.backward) == Array(0..<count))
        }
    }

    @Test("permutations of large sets do not overflow")
    func largePermutation() {
        let count = ForgeRecipe.rowLimit - 1
        let order = Permutation(count: count, salt: .max)
        for value in [0, 1, count / 2, count - 1] {
            #expect(order.backward(order.forward(value)) == value)
        }
    }

    @Test("counts of owners agree with what objects say", arguments: [1, 2, 3, 7])
    func counts(perOwner: Int) {
        for (own, targets, isSame) in [
            (50, 7, false), (50, 40, false), (3, 90, false), (40, 40, true),
        ] {
            let scheme = LinkScheme(
                shape: .many(perOwner: isSame ? max(2, perOwner) : perOwner), own: 0..<own,
                targets: isSame ? 0..<own : 100..<(100 + targets), isSameSet: isSame,
                isRequired: false, linked: Share(0.8), dangling: Share(0.1), salt: 5)
            var counted: [Int: Int] = [:]
            for slot in scheme.own {
                if case .object(let target, _) = scheme.target(ofSlot: slot) {
                    counted[target, default: 0] += 1
                }
            }
            for target in scheme.targets {
                #expect(scheme.count(ofTarget: target) == counted[target] ?? 0)
            }
        }
    }

    @Test("shares of nothing and of everything are exact")
    func shares() {
        for hash in [UInt64.min, 1, .max / 2, .max] {
            #expect(!Share(0).contains(hash))
            #expect(Share(1).contains(hash))
        }
    }
}

import ExpressionEvaluation
import Foundation
import MappingExpressions
import Testing

/// Letters that programs change, against the standard library.
struct LetterTests {
    private static func changed(_ text: [UInt8], _ program: PlainProgram) -> [UInt8]? {
        text.withUnsafeBytes { bytes in
            var changed: [UInt8]?
            _ = program.value(
                { _ in PlainText(input: bytes).map { .text($0) } }, text: { changed = Array($0) })
            return changed
        }
    }

    private static func program(_ function: ExpressionFunction) throws -> PlainProgram {
        try #require(
            PlainProgram(.function(function, [.variable("a")]), inputs: ["a": 0], now: 0))
    }

    @Test func everyScalarIsChangedAsByTheLibrary() throws {
        let (upper, lower) = (try Self.program(.uppercase), try Self.program(.lowercase))
        var wrong: [UInt32] = []
        // Beyond the first plane: letters of one block, emoji, and scalars of all other planes.
        let others = stride(from: UInt32(0x2_0000), through: 0x10_FFFF, by: 251)
        for value in Array(UInt32(1)...0x1_07FF) + Array(0x1_F000...0x1_FB00) + others + [0x10_FFFF]
        {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = "aB" + String(scalar) + "é"
            let bytes = Array(text.utf8)
            if Self.changed(bytes, upper) != Array(text.uppercased().utf8)
                || Self.changed(bytes, lower) != Array(text.lowercased().utf8)
            {
                wrong.append(value)
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test(
        arguments: [
            [0x61, 0xC3], [0xC3, 0x61], [0xC1, 0xBF], [0xE2, 0x80], [0xE0, 0x9F, 0xBF],
            [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98], [0xFF, 0x61], [0x80], [0xC3, 0xA9, 0xC3],
        ] as [[UInt8]])
    func whatIsNoTextKeepsItsBytes(_ bytes: [UInt8]) throws {
        let text = StoredText.string(bytes)
        #expect(
            Self.changed(bytes, try Self.program(.uppercase))
                == StoredText.bytes(text.uppercased()))
        #expect(
            Self.changed(bytes, try Self.program(.lowercase))
                == StoredText.bytes(text.lowercased()))
    }

    /// Searches beyond ASCII rely on these being all.
    @Test func threeScalarsMeanTheSameAsASCII() {
        let found = (UInt32(0x80)...0xFFFF).filter { value in
            guard let scalar = Unicode.Scalar(value) else { return false }
            let parts = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars
            return parts.first?.isASCII == true
                && parts.dropFirst().allSatisfy {
                    $0.properties.canonicalCombiningClass == .notReordered
                }
        }
        #expect(found == [0x37E, 0x1FEF, 0x212A])
    }

    @Test func longTextsAreChangedWhole() throws {
        for count in [32_767, 32_768, 32_769] {
            let text = String(repeating: "é", count: count)
            #expect(
                Self.changed(Array(text.utf8), try Self.program(.uppercase))
                    == Array(text.uppercased().utf8))
        }
    }
}

import ClusterProtocol
import TestSupport
import Testing

@testable import Coordinator

/// Two processes with the key of one worker, over sockets.
@Suite(.serialized) struct TwinPeerTests {
    private static func refusal(_ peer: ScriptedPeer) throws -> Refusal {
        try peer.next("a refusal") { if case .refused(let refusal) = $0 { refusal } else { nil } }
    }

    @Test func theSecondIsRefusedAndTheFirstGoesOn() throws {
        try CoordinatorLab.run { lab in
            let first = try lab.peer("w")
            try first.hello(instance: "a")
            _ = try first.welcome()
            for _ in 0..<3 {
                let second = try lab.peer("w")
                try second.hello(instance: "b")
                #expect(try Self.refusal(second).code == .nameTaken)
                second.vanish()
            }
            try first.say(.ready(freeSlots: 1))
            try first.expectNothing()
            try lab.told("that a worker was refused") { note in
                if case .worker("w", .refused(let reason)) = note {
                    reason.hasPrefix("another worker runs with")
                } else {
                    false
                }
            }
        }
    }

    /// Time does not pass here: the new process comes in because the former one's connection is
    /// known to be gone.
    @Test func acceptsRestartedWorker() throws {
        try CoordinatorLab.run { lab in
            let first = try lab.peer("w")
            try first.hello(instance: "a")
            _ = try first.welcome()
            first.vanish()
            let isIn = try awaited {
                let second = try lab.peer("w")
                try second.hello(instance: "b")
                let answer = try second.heard("an answer")
                if case .welcome = answer { return true }
                // The end of the former connection may take another way than the hello.
                guard case .refused(let refusal) = answer else { return nil }
                #expect(refusal.code == .nameTaken)
                second.vanish()
                return nil
            }
            #expect(isIn == true)
        }
    }
}

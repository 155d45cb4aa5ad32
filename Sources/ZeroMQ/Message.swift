/// A message as it arrived: who sent it, as far as the socket tells, and its frames.
package struct Message: Sendable {
    /// Frames that a message may have; longer ones are dropped as they come.
    package static let largestFrameCount = 16

    /// Where an answer goes, told by a router socket only.
    package let peer: RoutingID?
    /// The first frame of the payload; empty where the sender sent none.
    package let frame: Frame
    /// The frames behind the first.
    package let moreFrames: [Frame]

    /// All frames of the payload.
    package var frames: [Frame] { [frame] + moreFrames }

    /// The name under which the sender's key is on the allow-list; nil where no policy was asked.
    ///
    /// To be refused on a socket that is to have authenticated its peers.
    package var userID: String? { frame.userID }
}

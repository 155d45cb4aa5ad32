import Godwit

GodwitExecutable.main(policies: [ThumbnailPolicy.self])

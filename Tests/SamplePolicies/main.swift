import Godwit

GodwitExecutable.main(policies: [
    Country5ToCountry6Policy.self, Post2ToPost3MigrationPolicy.self, MisbehavingPolicy.self,
    ThumbnailPolicy.self,
])

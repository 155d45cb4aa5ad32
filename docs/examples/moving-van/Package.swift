// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "moving-van",
    dependencies: [
        // Your checkout of Godwit: this folder lies in it.
        .package(name: "godwit", path: "../../..")
    ],
    targets: [
        // SwiftPM warns that it leaves out -pthread, which vips names and nothing needs.
        .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
        // libvips takes its options as variadic arguments, which Swift cannot pass.
        .target(name: "CPictures", dependencies: ["CVips"]),
        .target(name: "Pictures", dependencies: ["CPictures"], swiftSettings: settings),
        // godwit with the policy.
        .executableTarget(
            name: "moving-van",
            dependencies: ["Pictures", .product(name: "Godwit", package: "godwit")],
            swiftSettings: settings),
        // Makes the photos of the demo.
        .executableTarget(name: "photos", dependencies: ["Pictures"], swiftSettings: settings),
    ]
)

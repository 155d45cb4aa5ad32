// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "custom-worker",
    dependencies: [
        // Your checkout of Godwit.
        .package(name: "godwit", path: "../godwit")
    ],
    targets: [
        .executableTarget(
            name: "custom-worker",
            dependencies: [.product(name: "Godwit", package: "godwit")])
    ]
)

package import ManagedObjectModel

/// A shop's app in three versions.
extension ForgeModels {
    /// Customers, orders with ordered lines, products of two kinds.
    ///
    /// Version 2 renames `Customer` to `Client` and `Product.price` to `netPrice`, and adds a
    /// relationship between products. Version 3 adds an entity under `Order` and lets an order
    /// belong to no client.
    package static func shop(version: Int) throws(ModelError) -> Model {
        var entities = [client(version), order(version), product(version)] + parts
        if version >= 3 {
            entities.append(
                Entity(
                    name: "Subscription", parent: "Order",
                    attributes: [
                        Attribute(
                            name: "interval", type: .integer16, isOptional: false,
                            defaultValue: .integer(30))
                    ]))
        }
        return try Model(entities: entities, versionIdentifiers: ["Shop \(version)"])
    }

    private static func client(_ version: Int) -> Entity {
        Entity(
            name: version == 1 ? "Customer" : "Client",
            attributes: [
                Attribute(name: "email", type: .string, isOptional: false),
                Attribute(name: "since", type: .date),
                Attribute(name: "website", type: .uri),
            ],
            relationships: [
                Relationship(
                    name: "orders", destination: "Order",
                    inverse: version == 1 ? "customer" : "client", maximumCount: 0)
            ],
            uniquenessConstraints: [["email"]],
            renamingIdentifier: version == 1 ? nil : "Customer")
    }

    private static func order(_ version: Int) -> Entity {
        Entity(
            name: "Order",
            attributes: [
                Attribute(name: "number", type: .integer64, isOptional: false),
                Attribute(name: "placedAt", type: .date, isOptional: false),
                Attribute(name: "total", type: .decimal),
            ],
            relationships: [
                Relationship(
                    name: version == 1 ? "customer" : "client",
                    destination: version == 1 ? "Customer" : "Client", inverse: "orders",
                    isOptional: version >= 3, renamingIdentifier: version == 1 ? nil : "customer"),
                Relationship(
                    name: "lines", destination: "OrderLine", inverse: "order", maximumCount: 0,
                    isOrdered: true, deleteRule: .cascade),
            ],
            uniquenessConstraints: [["number"]])
    }

    private static func product(_ version: Int) -> Entity {
        let price =
            version == 1
            ? Attribute(name: "price", type: .decimal, isOptional: false)
            : Attribute(
                name: "netPrice", type: .decimal, isOptional: false, renamingIdentifier: "price")
        var product = Entity(
            name: "Product", isAbstract: true,
            attributes: [Attribute(name: "name", type: .string, isOptional: false), price],
            relationships: [
                Relationship(
                    name: "lines", destination: "OrderLine", inverse: "product", maximumCount: 0)
            ])
        if version >= 2 {
            product.relationships.append(
                Relationship(
                    name: "related", destination: "Product", inverse: "related",
                    maximumCount: 0))
        }
        return product
    }

    private static let parts = [
        Entity(
            name: "OrderLine",
            attributes: [
                Attribute(
                    name: "quantity", type: .integer32, isOptional: false,
                    defaultValue: .integer(1))
            ],
            relationships: [
                Relationship(name: "order", destination: "Order", inverse: "lines"),
                Relationship(name: "product", destination: "Product", inverse: "lines"),
            ]),
        Entity(
            name: "Book", parent: "Product",
            attributes: [Attribute(name: "author", type: .string)]),
        Entity(
            name: "Device", parent: "Product",
            attributes: [
                Attribute(name: "manual", type: .binary),
                Attribute(name: "weight", type: .float),
            ]),
    ]
}

extension ForgeRecipe {
    /// A shop's store: so many orders with three lines each, and what goes with them.
    package static func shop(
        version: Int = 1, orders: Int, seed: UInt64 = 1
    ) throws(ModelError) -> ForgeRecipe {
        var recipe = ForgeRecipe(model: try ForgeModels.shop(version: version), seed: seed)
        recipe.rows = [
            version == 1 ? "Customer" : "Client": orders / 4 + 1, "Order": orders,
            "OrderLine": orders * 3, "Book": orders / 10 + 1, "Device": orders / 20 + 1,
        ]
        if version >= 3 { recipe.rows["Subscription"] = orders / 10 }
        recipe.metadata = ForgeRecipe.sampleMetadata
        return recipe
    }
}

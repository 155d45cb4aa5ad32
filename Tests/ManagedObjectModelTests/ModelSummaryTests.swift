import Foundation
import ModelFiles
import Testing

@testable import ManagedObjectModel

@Suite struct ModelSummaryTests {
    @Test func textHasEntitiesByNumber() throws {
        let model = try XMLModelReader.read(Array(Samples.cars.utf8))
        #expect(
            ModelSummary(model).text == """
                5 entities, 8 attributes, 6 relationships
                version identifiers: "3"

                1  Car
                   markedForDeletionAsOf  Date, optional
                   model                  String, optional
                   numberPlate            String
                   createdBy              to-one Maker.cars, optional, nullify
                   owner                  to-one Person.cars, optional, nullify
                   previousOwners         to-many Person.previousCars, optional, nullify
                   unique: numberPlate

                2  SportCar : Car

                3  LuxuryCar : SportCar, renamed from ExpensiveSportCar
                   isLimitedEdition  Boolean, optional, default NO

                4  Maker
                   name  String
                   cars  to-many Car.createdBy, optional, nullify
                   unique: name

                5  Person
                   firstName     String, optional
                   lastName      String, optional
                   updatedAt     Date
                   cars          to-many Car.owner, optional, nullify
                   previousCars  to-many Car.previousOwners, optional, nullify
                   unique: firstName, lastName

                """)
    }

    @Test func jsonRoundTripsAndUsesWords() throws {
        let model = try XMLModelReader.read(Array(Samples.bookmarks.utf8))
        let summary = ModelSummary(model)
        let data = try JSONEncoder().encode(summary)
        #expect(try JSONDecoder().decode(ModelSummary.self, from: data) == summary)
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let entity = try #require((json["entities"] as? [[String: Any]])?.first)
        #expect(entity["number"] as? Int == 1)
        let attributes = try #require(entity["attributes"] as? [[String: Any]])
        #expect(attributes.first?["type"] as? String == "Boolean")
    }

    @Test func modelSurvivesItsOwnCoding() throws {
        for xml in [Samples.cars, Samples.bookmarks, Samples.syncMetadata] {
            let model = try XMLModelReader.read(Array(xml.utf8))
            let data = try JSONEncoder().encode(model)
            #expect(try JSONDecoder().decode(Model.self, from: data) == model)
        }
    }
}

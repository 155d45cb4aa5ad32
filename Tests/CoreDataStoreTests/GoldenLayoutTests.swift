import ManagedObjectModel
import ModelFiles
import SafeSQLite
import Testing

@testable import CoreDataStore

/// What Core Data wrote into real stores for small models: texts of tables, join tables, indexes
/// and triggers, to the letter.
@Suite struct GoldenLayoutTests {
    private func texts(_ layout: StoreLayout) -> Set<String> {
        Set(
            layout.definitions.filter { $0.kind != .rTree }.map(\.sql.description))
    }

    private func expect(
        _ model: Model, _ framework: Int, _ wanted: Set<String>, order: [String],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let layout = try StoreLayout(model: model, framework: FrameworkVersion(framework))
        let found = texts(layout)
        #expect(found.subtracting(wanted).isEmpty, sourceLocation: location)
        #expect(wanted.subtracting(found).isEmpty, sourceLocation: location)
        #expect(layout.entityOrder == order, sourceLocation: location)
        #expect(layout.unsupported.isEmpty, sourceLocation: location)
    }

    @Test func hierarchiesAndUniqueness() throws {
        try expect(
            GoldenModels.cars(), 1044, Self.cars,
            order: ["Car", "SportCar", "ExpensiveSportCar", "Person"])
    }

    @Test func indexesAndConstraintsOfTheOldEra() throws {
        try expect(
            GoldenModels.moods(), 637, Self.moods,
            order: ["GeographicRegion", "Continent", "Country", "Mood"])
    }

    @Test func orderedRelationshipsToTheSameEntity() throws {
        let model = try XMLModelReader.read(Array(GoldenModels.bookmarks.utf8))
        try expect(model, 1333, Self.bookmarks, order: ["BookmarkEntity"])
    }

    @Test func countsOfRelatedObjects() throws {
        try expect(
            GoldenModels.books(), 1344, Self.books,
            order: ["Book", "GraphicNovel", "Page", "Writer", "Author"])
    }

    /// Three attributes more turn the names of both join tables around.
    @Test(arguments: [false, true]) func attributesFlipJoinTables(isLater: Bool) throws {
        let layout = try StoreLayout(
            model: GoldenModels.clients(isLater: isLater), framework: FrameworkVersion(641))
        #expect(layout.number(of: "UserClient") == 14)
        let found = texts(layout)
        let wanted = isLater ? Self.laterClients : Self.clients
        #expect(wanted.subtracting(found).isEmpty, "\(wanted.subtracting(found))")
        let other = isLater ? Self.clients : Self.laterClients
        let shared = Self.clients.intersection(Self.laterClients)
        #expect(other.intersection(found) == shared)
    }

    /// Written by framework 1044.
    private static let cars: Set<String> = [
        "CREATE TABLE ZCAR ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
            + "ZOWNER INTEGER, ZISLIMITEDEDITION INTEGER, ZMARKEDFORDELETIONASOF TIMESTAMP, "
            + "ZMAKER VARCHAR, ZMODEL VARCHAR, ZNUMBERPLATE VARCHAR, ZCOLOR BLOB )",
        "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT "
            + "INTEGER, ZUPDATEDAT TIMESTAMP, ZFIRSTNAME VARCHAR, ZLASTNAME VARCHAR, ZID "
            + "BLOB )",
        "CREATE INDEX ZCAR_ZOWNER_INDEX ON ZCAR (ZOWNER)",
        "CREATE INDEX ZCAR_Z_ENT_INDEX ON ZCAR (Z_ENT)",
        "CREATE UNIQUE INDEX Z_Car_UNIQUE_numberPlate ON ZCAR (ZNUMBERPLATE COLLATE "
            + "BINARY ASC)",
        "CREATE UNIQUE INDEX Z_Person_UNIQUE_firstName_lastName ON ZPERSON "
            + "(ZFIRSTNAME COLLATE BINARY ASC, ZLASTNAME COLLATE BINARY ASC)",
    ]

    /// Written by framework 637.
    private static let moods: Set<String> = [
        "CREATE TABLE ZGEOGRAPHICREGION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, "
            + "Z_OPT INTEGER, ZNUMBEROFMOODS INTEGER, ZNUMERICISO3166CODE INTEGER, "
            + "ZUNIQUENESSDUMMY INTEGER, ZNUMBEROFCOUNTRIES INTEGER, ZCONTINENT INTEGER, "
            + "ZMARKEDFORDELETIONDATE TIMESTAMP, ZUPDATEDAT TIMESTAMP, CONSTRAINT "
            + "ZNUMERICISO3166CODE_ZUNIQUENESSDUMMY UNIQUE (ZNUMERICISO3166CODE, "
            + "ZUNIQUENESSDUMMY))",
        "CREATE TABLE ZMOOD ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
            + "ZMARKEDFORREMOTEDELETION INTEGER, ZRATING INTEGER, ZCONTINENT INTEGER, "
            + "ZCOUNTRY INTEGER, ZDATE TIMESTAMP, ZLATITUDE FLOAT, ZLONGITUDE FLOAT, "
            + "ZMARKEDFORDELETIONDATE TIMESTAMP, ZCREATORID VARCHAR, ZREMOTEID VARCHAR, "
            + "ZCOLORS BLOB )",
        "CREATE INDEX ZGEOGRAPHICREGION_ZCONTINENT_INDEX ON ZGEOGRAPHICREGION "
            + "(ZCONTINENT)",
        "CREATE INDEX ZGEOGRAPHICREGION_Z_ENT_INDEX ON ZGEOGRAPHICREGION (Z_ENT)",
        "CREATE INDEX ZGEOGRAPHICREGION_ZMARKEDFORDELETIONDATE_ZUPDATEDAT ON "
            + "ZGEOGRAPHICREGION (ZMARKEDFORDELETIONDATE, ZUPDATEDAT)",
        "CREATE INDEX ZMOOD_ZMARKEDFORDELETIONDATE_INDEX ON ZMOOD "
            + "(ZMARKEDFORDELETIONDATE)",
        "CREATE INDEX ZMOOD_ZREMOTEID_INDEX ON ZMOOD (ZREMOTEID)",
        "CREATE INDEX ZMOOD_ZCONTINENT_INDEX ON ZMOOD (ZCONTINENT)",
        "CREATE INDEX ZMOOD_ZCOUNTRY_INDEX ON ZMOOD (ZCOUNTRY)",
        "CREATE INDEX ZMOOD_ZMARKEDFORREMOTEDELETION_ZMARKEDFORDELETIONDATE_ZDATE ON "
            + "ZMOOD (ZMARKEDFORREMOTEDELETION, ZMARKEDFORDELETIONDATE, ZDATE)",
    ]

    /// Written by framework 1333.
    private static let bookmarks: Set<String> = [
        "CREATE TABLE ZBOOKMARKENTITY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, "
            + "Z_OPT INTEGER, ZISFOLDER INTEGER, ZISPENDINGDELETION INTEGER, ZPARENT "
            + "INTEGER, Z_FOK_PARENT INTEGER, ZMODIFIEDAT TIMESTAMP, ZTITLE VARCHAR, ZURL "
            + "VARCHAR, ZUUID VARCHAR )",
        "CREATE TABLE Z_1FAVORITES ( Z_1FAVORITEFOLDERS INTEGER, Z_1FAVORITES "
            + "INTEGER, Z_FOK_1FAVORITES INTEGER, PRIMARY KEY (Z_1FAVORITEFOLDERS, "
            + "Z_1FAVORITES) )",
        "CREATE INDEX ZBOOKMARKENTITY_ZPARENT_INDEX ON ZBOOKMARKENTITY (ZPARENT)",
        "CREATE INDEX Z_1FAVORITES_Z_1FAVORITES_INDEX ON Z_1FAVORITES (Z_1FAVORITES, "
            + "Z_1FAVORITEFOLDERS)",
        "CREATE INDEX Z_BookmarkEntity_isPendingDeletion ON ZBOOKMARKENTITY "
            + "(ZISPENDINGDELETION COLLATE BINARY ASC)",
        "CREATE INDEX Z_BookmarkEntity_byUUID ON ZBOOKMARKENTITY (ZUUID COLLATE "
            + "BINARY ASC, ZISPENDINGDELETION COLLATE BINARY ASC)",
        "CREATE INDEX Z_BookmarkEntity_byURL ON ZBOOKMARKENTITY (ZURL COLLATE BINARY "
            + "ASC, ZISPENDINGDELETION COLLATE BINARY ASC)",
        "CREATE INDEX Z_BookmarkEntity_byIsPendingDeletion ON ZBOOKMARKENTITY "
            + "(ZISPENDINGDELETION COLLATE BINARY ASC)",
    ]

    /// Written by framework 1344.
    private static let books: Set<String> = [
        "CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
            + "ZPAGESCOUNT INTEGER, ZAUTHOR INTEGER, ZISBLACKANDWHITE INTEGER, ZPUBLISHEDAT "
            + "TIMESTAMP, ZPRICE DECIMAL, ZTITLE VARCHAR, ZUNIQUEID BLOB, ZCOVER BLOB )",
        "CREATE TABLE ZPAGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
            + "ZISBOOKMARKED INTEGER, ZNUMBER INTEGER, ZBOOK INTEGER, Z1_BOOK INTEGER, "
            + "ZCONTENT BLOB )",
        "CREATE TABLE ZWRITER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT "
            + "INTEGER, ZAGE INTEGER, ZALIAS VARCHAR, ZSITEURL VARCHAR )",
        "CREATE INDEX ZBOOK_ZAUTHOR_INDEX ON ZBOOK (ZAUTHOR)",
        "CREATE INDEX ZBOOK_Z_ENT_INDEX ON ZBOOK (Z_ENT)",
        "CREATE UNIQUE INDEX Z_Book_UNIQUE_uniqueID ON ZBOOK (ZUNIQUEID COLLATE "
            + "BINARY ASC)",
        "CREATE INDEX ZPAGE_ZBOOK_INDEX ON ZPAGE (ZBOOK)",
        "CREATE INDEX ZWRITER_Z_ENT_INDEX ON ZWRITER (Z_ENT)",
        "CREATE UNIQUE INDEX Z_Author_UNIQUE_alias ON ZWRITER (ZALIAS COLLATE BINARY "
            + "ASC)",
        "CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_INSERT AFTER INSERT ON "
            + "ZPAGE FOR EACH ROW WHEN (NEW.ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET "
            + "ZPAGESCOUNT = IFNULL(ZPAGESCOUNT, 0) + 1 WHERE Z_PK = NEW.ZBOOK; SELECT "
            + "NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, "
            + "'pagesCount', ZPAGESCOUNT) FROM ZBOOK WHERE Z_PK = NEW.ZBOOK; END",
        "CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_UPDATE_INCREMENT AFTER "
            + "UPDATE OF ZBOOK ON ZPAGE FOR EACH ROW WHEN (NEW.ZBOOK NOT NULL) BEGIN UPDATE "
            + "ZBOOK SET ZPAGESCOUNT = ZPAGESCOUNT + 1 WHERE Z_PK = NEW.ZBOOK; SELECT "
            + "NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, "
            + "'pagesCount', ZPAGESCOUNT) FROM ZBOOK WHERE Z_PK = NEW.ZBOOK; END",
        "CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_UPDATE_DECREMENT AFTER "
            + "UPDATE OF ZBOOK ON ZPAGE FOR EACH ROW WHEN (OLD.ZBOOK NOT NULL) BEGIN UPDATE "
            + "ZBOOK SET ZPAGESCOUNT = ZPAGESCOUNT - 1 WHERE Z_PK = OLD.ZBOOK; SELECT "
            + "NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, "
            + "'pagesCount', ZPAGESCOUNT) FROM ZBOOK WHERE Z_PK = OLD.ZBOOK; END",
        "CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_DELETE AFTER DELETE ON "
            + "ZPAGE FOR EACH ROW WHEN (OLD.ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET "
            + "ZPAGESCOUNT = ZPAGESCOUNT - 1 WHERE Z_PK = OLD.ZBOOK; SELECT "
            + "NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, "
            + "'pagesCount', ZPAGESCOUNT) FROM ZBOOK WHERE Z_PK = OLD.ZBOOK; END",
        "CREATE TRIGGER Z_DA_ZBOOK_Book_pagesCount_SOURCE_INSERT AFTER INSERT ON "
            + "ZBOOK FOR EACH ROW BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = (SELECT "
            + "IFNULL(COUNT(ZBOOK), 0) FROM ZPAGE WHERE ZBOOK = NEW.Z_PK) WHERE Z_PK = "
            + "NEW.Z_PK; SELECT "
            + "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, "
            + "'pagesCount', ZPAGESCOUNT) FROM ZBOOK WHERE Z_PK = NEW.Z_PK; END",
    ]

    /// Written by framework 641.
    private static let clients: Set<String> = [
        "CREATE TABLE ZUSERCLIENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT "
            + "INTEGER, ZMARKEDTODELETE INTEGER, ZMODIFIEDDATAFIELDS INTEGER, "
            + "ZNEEDSTONOTIFYUSER INTEGER, ZNUMBEROFKEYSREMAINING INTEGER, ZPREKEYSRANGEMAX "
            + "INTEGER, ZMISSEDBYCLIENT INTEGER, ZUSER INTEGER, ZACTIVATIONDATE TIMESTAMP, "
            + "ZACTIVATIONLOCATIONLATITUDE FLOAT, ZACTIVATIONLOCATIONLONGITUDE FLOAT, "
            + "ZACTIVATIONADDRESS VARCHAR, ZDEVICECLASS VARCHAR, ZLABEL VARCHAR, ZMODEL "
            + "VARCHAR, ZREMOTEIDENTIFIER VARCHAR, ZTYPE VARCHAR, ZFINGERPRINT BLOB )",
        "CREATE TABLE Z_14IGNOREDBYCLIENTS ( Z_14IGNOREDCLIENTS INTEGER, "
            + "Z_14IGNOREDBYCLIENTS INTEGER, PRIMARY KEY (Z_14IGNOREDCLIENTS, "
            + "Z_14IGNOREDBYCLIENTS) )",
        "CREATE TABLE Z_14TRUSTEDBYCLIENTS ( Z_14TRUSTEDCLIENTS INTEGER, "
            + "Z_14TRUSTEDBYCLIENTS INTEGER, PRIMARY KEY (Z_14TRUSTEDCLIENTS, "
            + "Z_14TRUSTEDBYCLIENTS) )",
        "CREATE INDEX ZUSERCLIENT_ZMISSEDBYCLIENT_INDEX ON ZUSERCLIENT "
            + "(ZMISSEDBYCLIENT)",
        "CREATE INDEX ZUSERCLIENT_ZUSER_INDEX ON ZUSERCLIENT (ZUSER)",
        "CREATE INDEX Z_14IGNOREDBYCLIENTS_Z_14IGNOREDBYCLIENTS_INDEX ON "
            + "Z_14IGNOREDBYCLIENTS (Z_14IGNOREDBYCLIENTS, Z_14IGNOREDCLIENTS)",
        "CREATE INDEX Z_14TRUSTEDBYCLIENTS_Z_14TRUSTEDBYCLIENTS_INDEX ON "
            + "Z_14TRUSTEDBYCLIENTS (Z_14TRUSTEDBYCLIENTS, Z_14TRUSTEDCLIENTS)",
    ]

    /// Written by framework 641, one version of the model later.
    private static let laterClients: Set<String> = [
        "CREATE TABLE ZUSERCLIENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT "
            + "INTEGER, ZMARKEDTODELETE INTEGER, ZMODIFIEDDATAFIELDS INTEGER, "
            + "ZNEEDSTONOTIFYUSER INTEGER, ZNEEDSTOUPLOADSIGNALINGKEYS INTEGER, "
            + "ZNUMBEROFKEYSREMAINING INTEGER, ZPREKEYSRANGEMAX INTEGER, ZMISSEDBYCLIENT "
            + "INTEGER, ZUSER INTEGER, ZACTIVATIONDATE TIMESTAMP, "
            + "ZACTIVATIONLOCATIONLATITUDE FLOAT, ZACTIVATIONLOCATIONLONGITUDE FLOAT, "
            + "ZACTIVATIONADDRESS VARCHAR, ZDEVICECLASS VARCHAR, ZLABEL VARCHAR, ZMODEL "
            + "VARCHAR, ZREMOTEIDENTIFIER VARCHAR, ZTYPE VARCHAR, ZAPSDECRYPTIONKEY BLOB, "
            + "ZAPSVERIFICATIONKEY BLOB, ZFINGERPRINT BLOB )",
        "CREATE TABLE Z_14TRUSTEDCLIENTS ( Z_14TRUSTEDBYCLIENTS INTEGER, "
            + "Z_14TRUSTEDCLIENTS INTEGER, PRIMARY KEY (Z_14TRUSTEDBYCLIENTS, "
            + "Z_14TRUSTEDCLIENTS) )",
        "CREATE TABLE Z_14IGNOREDCLIENTS ( Z_14IGNOREDBYCLIENTS INTEGER, "
            + "Z_14IGNOREDCLIENTS INTEGER, PRIMARY KEY (Z_14IGNOREDBYCLIENTS, "
            + "Z_14IGNOREDCLIENTS) )",
        "CREATE INDEX ZUSERCLIENT_ZMISSEDBYCLIENT_INDEX ON ZUSERCLIENT "
            + "(ZMISSEDBYCLIENT)",
        "CREATE INDEX ZUSERCLIENT_ZUSER_INDEX ON ZUSERCLIENT (ZUSER)",
        "CREATE INDEX Z_14TRUSTEDCLIENTS_Z_14TRUSTEDCLIENTS_INDEX ON "
            + "Z_14TRUSTEDCLIENTS (Z_14TRUSTEDCLIENTS, Z_14TRUSTEDBYCLIENTS)",
        "CREATE INDEX Z_14IGNOREDCLIENTS_Z_14IGNOREDCLIENTS_INDEX ON "
            + "Z_14IGNOREDCLIENTS (Z_14IGNOREDCLIENTS, Z_14IGNOREDBYCLIENTS)",
    ]
}

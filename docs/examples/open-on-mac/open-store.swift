// Opens a store with Apple's Core Data and reads every object, attribute and relationship.
//
//     swift open-store.swift STORE MODEL
//
// MODEL is the compiled model of the app's new version (.mom or .momd). The store is opened
// read-only; SQLite may still put a -wal and a -shm beside it, so give it a copy. The exit code is
// 0 where everything could be read.

import CoreData
import Foundation

struct Failure: Error, CustomStringConvertible {
    let description: String
}

func openedContext(store: URL, model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: store)
    guard model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else {
        let mine = model.entityVersionHashesByName
        let theirs = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let names = Set(mine.keys).union(theirs.keys).filter { mine[$0] != theirs[$0] }.sorted()
        throw Failure(description: "the version hashes differ: \(names.joined(separator: ", "))")
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    // Without these options Core Data could migrate the store itself and hide a fault.
    try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: store,
        options: [
            NSReadOnlyPersistentStoreOption: true,
            NSMigratePersistentStoresAutomaticallyOption: false,
            NSInferMappingModelAutomaticallyOption: false,
        ])
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.undoManager = nil
    return context
}

/// Reads all properties of an object; returns how many values and links it has.
func read(_ object: NSManagedObject) -> (values: Int, links: Int) {
    var counts = (values: 0, links: 0)
    // Faults the object in; a row that is gone raises an exception here.
    for (name, attribute) in object.entity.attributesByName
    where attribute.attributeType != .transformableAttributeType {
        // External data are read from their files by this. Transformable values are left alone:
        // to decode them takes classes of the app.
        if object.value(forKey: name) != nil { counts.values += 1 }
    }
    for (name, relationship) in object.entity.relationshipsByName {
        let value = object.value(forKey: name)
        if relationship.isOrdered, let targets = value as? NSOrderedSet {
            counts.links += targets.count
        } else if relationship.isToMany, let targets = value as? NSSet {
            counts.links += targets.count
        } else if value != nil {
            counts.links += 1
        }
    }
    return counts
}

/// Reads all objects of exactly one entity, in batches so that memory stays small.
func walk(_ name: String, in context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: name)
    request.resultType = .managedObjectIDResultType
    request.includesSubentities = false
    let identifiers = try context.fetch(request)
    var (values, links, invalid) = (0, 0, 0)
    for start in stride(from: 0, to: identifiers.count, by: 500) {
        try autoreleasepool {
            for identifier in identifiers[start..<min(start + 500, identifiers.count)] {
                let object = try context.existingObject(with: identifier)
                let counts = read(object)
                values += counts.values
                links += counts.links
                // What the model asks of an object; a fault may be inherited from the source.
                do { try object.validateForUpdate() } catch { invalid += 1 }
            }
            context.reset()
        }
    }
    let faults = invalid == 0 ? "" : ", \(invalid) that break a rule of the model"
    print("\(name): \(identifiers.count) objects, \(values) values, \(links) links\(faults)")
}

do {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else {
        throw Failure(description: "usage: swift open-store.swift STORE MODEL")
    }
    let modelURL = URL(fileURLWithPath: arguments[2])
    guard let model = NSManagedObjectModel(contentsOf: modelURL) else {
        throw Failure(description: "\(arguments[2]) cannot be read as a compiled model")
    }
    let context = try openedContext(store: URL(fileURLWithPath: arguments[1]), model: model)
    for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
        if let name = entity.name, !entity.isAbstract { try walk(name, in: context) }
    }
    print("Core Data opened the store and read every object.")
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}

import TomboloAPI
import TomboloCore
import TomboloRelay

extension ServerDoors {
    /// A text to search for has at most so many characters: as many as an id.
    static let searchedMax = Identifier.bytesMax

    /// `GET /v1/search`: what of the tenant has an id that begins with a text. A delivery, and an
    /// activity that has left memory, are found by the whole id only.
    func searchTenant(_ request: DoorRequest) async throws(Problem) -> DoorResponse {
        let (text, tenant) = (request.target["q"] ?? "", request.tenant)
        let length = text.unicodeScalars.count
        guard (1...Self.searchedMax).contains(length) else {
            throw Problem(
                .invalidQuery,
                "q has \(length) characters. Give q= the first 1 to \(Self.searchedMax) characters "
                    + "of an id.")
        }
        return try await page(for: request) { () async throws(Problem) in
            let (whole, isAll) = await relay.search(text, of: tenant)
            var found = whole
            if let retired = await retired(text, of: tenant, besides: found) {
                found.insert(retired, at: 0)
            }
            let answer = SearchAnswer(
                found, delivery: try await exactDelivery(text, of: tenant), isWhole: isAll)
            return .json { answer.write(to: &$0) }
        }
    }

    /// An ended activity that has left memory, from the log.
    private func retired(
        _ text: String, of tenant: TenantID, besides found: [SearchResult]
    ) async -> SearchResult? {
        guard let id = Identifier(text) else { return nil }
        let isFound = found.contains { one in
            if case .activity(let other, _, _) = one { id == other } else { false }
        }
        guard !isFound, let view = await relay.activity(ActivityKey(tenant: tenant, id: id))
        else { return nil }
        return .activity(id, type: view.type, status: view.status)
    }

    /// The delivery with this id or this `apns-id`; nil if the text is neither, or not on record.
    private func exactDelivery(
        _ text: String, of tenant: TenantID
    ) async throws(Problem) -> DeliveryEntry? {
        let id = APNsID(text: text)?.deliveryID ?? text
        guard DeliveryEntry.Place(id) != nil else { return nil }
        do throws(Problem) { return try await delivery(id, of: tenant) } catch {
            guard error.code == .unknownDelivery else { throw error }
            return nil
        }
    }
}

extension TimeZoneRules {
    /// Reads a time zone's file in the format TZif, version 2 or later (RFC 8536, section 3).
    package init(tzif bytes: [UInt8]) throws(TimeZoneError) {
        var reader = ZoneFileReader(bytes)
        let older = try reader.header()
        guard older.version >= UInt8(ascii: "2") else {
            throw TimeZoneError(message: "the file has version 1, which ends in 2038")
        }
        try reader.skipBlock(older, timeBytes: 4)
        let header = try reader.header()
        let block = try reader.block(header)
        self.init(first: block.first, changes: block.changes, rule: try reader.footer())
    }
}

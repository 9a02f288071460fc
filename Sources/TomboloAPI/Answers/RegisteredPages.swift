package import TomboloCore
package import TomboloJSON

/// The answer to `GET /v1/devices`.
package struct DevicePage: Sendable {
    private let devices: [DeviceView]
    private let next: Identifier?

    /// - Parameter next: the last device of the page, if more follow; else nil.
    package init(_ devices: [DeviceView], next: Identifier?) {
        self.devices = devices
        self.next = next
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.array("devices", of: devices) { $1.write(to: &$0) }
            writer.nullable("next_cursor", next?.rawValue)
        }
    }
}

/// The answer to `GET /v1/types`.
package struct TypePage: Sendable {
    private let types: [TypeView]
    private let next: String?

    /// - Parameter next: the cursor of the next page; nil if this is the last page.
    package init(_ types: [TypeView], next: String?) {
        self.types = types
        self.next = next
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.array("types", of: types) { $1.write(to: &$0) }
            writer.nullable("next_cursor", next)
        }
    }
}

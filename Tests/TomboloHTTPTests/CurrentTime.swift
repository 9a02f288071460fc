import Glibc

/// The real time of day, which certificates are checked against.
func currentUnixTime() -> Int64 { Int64(time(nil)) }

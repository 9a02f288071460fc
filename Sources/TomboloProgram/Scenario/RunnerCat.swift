/// The running cat of scenario `runner`: five frames of 48 by 32 pixels, as 1-bit PNGs in base64.
///
/// They have 1,156 bytes together, so that all five fit into one payload.
/// `Protocol/examples/runner/` has the same pictures as files; a test compares them.
enum RunnerCat {
    static let frames = [
        "iVBORw0KGgoAAAANSUhEUgAAADAAAAAgAQAAAAB8r8axAAAAc0lEQVQYV2NgIAw4gLihgUEGSB2EUI8bGCSA"
            + "1P8GBgsUSoa5geFvAwM///8/QB77fyA4wPQHakw9kNcApu4AefZAKQQlD5Zi4H8OoRjkwVQDhDpgDaL4HhSD"
            + "KPaC5yDDmAuOgamd50AU4/05YCs6ORjQAADkBDI1UMr9mwAAAABJRU5ErkJggg==",
        "iVBORw0KGgoAAAANSUhEUgAAADAAAAAgAQAAAAB8r8axAAAAe0lEQVQYV3XIoQ3CUBiF0dM8kjpgAroCsoKk"
            + "HYURikFSJCMgGAJZ+QZBvAkIG/yIJqD6mZN7WarvwTHb4pS1GLP9n0s2zKslojjUEVHsmogoNhERzB/jTPcj"
            + "z1zRfOqMJtcFnTTgLD2p3tJEekl36kl6sB6kG6uigt5SXycYNH+QXsemAAAAAElFTkSuQmCC",
        "iVBORw0KGgoAAAANSUhEUgAAADAAAAAgAQAAAAB8r8axAAAAaElEQVQYV5XFoRHCQAAEwI0K7juAdAAyAiat"
            + "UAIyMxGkBEpKKV/COxyHBwxrli/DAE5XMFYw/exqoEzVrSRpxilJc0iSqiR50idpuH/2okvts+qzWjZl5txc"
            + "KmW2bPQPR3SbPax2/vMG8b00MC1n9zoAAAAASUVORK5CYII=",
        "iVBORw0KGgoAAAANSUhEUgAAADAAAAAgAQAAAAB8r8axAAAAcklEQVQYV4XFoRGCYBgA0PefwYgTKCMYab+j"
            + "MAITCGOwldVA4AxaOI9o8jPgeUfylcd/JcpSg2OtQTVqkH9Vm06u7Yu3PCoiImbbJd/aiOhoI2bkdZcYcXYY"
            + "MUkzBulFujKQeiY2PU9SxR07HsBt6WTtA/zJNl9fAv7uAAAAAElFTkSuQmCC",
        "iVBORw0KGgoAAAANSUhEUgAAADAAAAAgAQAAAAB8r8axAAAAeUlEQVQYV23HMQ4BQRiA0ReTGIXYVrGJQygV"
            + "u3ESRyB6s8dSzlF0OicQv2IKIb7m5eNfs0ZuzDGOVjhUS5yqHqVdqVZpUqrcPV2qHPEqVYqIuFE+VIaIB4aI"
            + "GzaNLqIiH4YJ6dhBun6x3kxI6x3kfts4w2xxB/Z+egOvRy334eFlqwAAAABJRU5ErkJggg==",
    ]
}

/// The sentences of the pacing rules, and the tests that hold each: whoever adds a sentence adds a
/// line, and a test that is renamed is found missing here.
enum PacingSentences {
    /// A rule and what it says in short; under it, set in, the names of its tests.
    private static let text = """
        Why: a throttle of the leading update alone
          a throttle of the leading update alone drops the last one
        Why: a debounce anchored to the last event
          a debounce from the last event sends nothing while events come
        Why: follow-ups as further starts
          follow-ups that become starts until there is a token make cards twice
        Why: an end held back or refused by the guard of order
          an end that the guard of order or the spacing stops leaves the card
        Why: timestamps in milliseconds, or not increasing
          timestamps in milliseconds, or of the same second, are dropped silently
        Why: priority 10 spent on frames
          frames at priority 10 leave none for the alert
        Why: a loop sampled at a multiple of its period
          a loop sampled at a multiple of its period stands still
          a loop visits all its frames, whatever it and the grant are
        Words: grants nest, and the tightest wins
          priority 10 to a device stays within four times an activity's grant
          one activity alone never feels its device's grant
        Words: a grant may change while an activity runs
          a class that changes while a loop runs goes on from the frame shown
          tokens that are missing stay missing under another grant
        Words: the classes and what they are granted
          the classes are as the table says
        Words: the device's class goes before the type's
          an operator's class goes before the type's, and needs frequent updates
        Words: every answer tells the effective grant
          an operator's class goes before the type's, and needs frequent updates
        Words: a frequent device without frequent updates is standard
          an operator's class goes before the type's, and needs frequent updates
          frequent updates that the user switches off lower the grant at once
        Words: device grants do not apply to a channel
          a dry run on a channel tells the channel's grant, and no device's holds it
        Words: a class without priority 5 waits for a token
          four reloads, then one every forty minutes: forty a day
          a phone gets ten starts, then one every two hours
          a control has its own token and budget: four, then one a minute
          a start never goes at 5
        Words: lab is refused at Apple's
          lab is refused for an app whose endpoint is Apple's
          a class that is for simulators is none of Apple's
          class lab of a type does not apply in Apple's environment
        Words: a stopped clip's frame becomes the state
          when a clip stops, the producer's frame of that instant is the state everywhere
        Words: the end of a shown clip keeps each phone's frame
          the end of a running shown clip keeps each phone's last frame
        Words: frames asked for are counted
          frames are counted by the second, and the seconds add up
          frames without a card count as having no route
          random histories keep the rules, and their books add up
        1: a change goes out at once
          a change goes out at once when the grant allows
        1: an equal payload is skipped, and the version rises
          a state equal to the last one sent spends nothing, and its version rises
        1: never so for an alert
          an equal state goes all the same with an alert
        1: never so for an echo
          ten minutes after the last change the state goes once more at priority 5
        1: never so for a retry
          an equal state goes all the same where the last push may be lost
        1: never so for a stale date that is due
          a producer that repeats itself moves the stale date, before half of it is gone
          the relay's own clock moves no stale date, and an echo carries the old one
          a start that waited begins no card that is stale
          a stale date that is due is moved on all the same
          a longer time to the stale date is told before the shorter is over
          a stale date is moved on in time however often a relay starts again
        2: the deadline is anchored to the last send, and takes the newest
          the last value of a burst arrives within the spacing, anchored to the last send
        2: within low-priority spacing where it goes at 5
          events without a pause do not starve the phone
        2: the trailing value also where a push is lost
          the last value of a clip goes again
          the last value of a clip that a crash has cut off goes again
          a bundle that goes on after the app was in front goes again
        2: what holds it is named
          the answer names the wait reason and its end
        3: no window over the grant
          priority 10 never exceeds burst and rate in any window
        3: across restarts
          the budget is not spent a second time after a crash
          the device's budget is not spent a second time after a crash
          an end at 10 that may have gone before a crash is counted
        3: across clock jumps
          random histories keep the rules, and their books add up
          steady time never goes back, whatever the wall clock does
        3: a token is reserved durably before the send
          a token is on disk before it is spent
        3: a refused attempt is no send
          an attempt that was surely not processed gives its token back
          an attempt that was surely not processed is no send, also of a reload
        3: after a restart it counts as having just sent
          a start that may have gone leaves the highest timestamp it can have used
          after a crash timestamps go on above all that can have been used
        4: an end waits for no bucket, spacing or push in flight
          an end waits for no bucket, no spacing and no push in flight
        4: an end waits for a route
          an end that is held for a token goes first and alone
        4: an end waits for a back-off or a parked upstream
          an end waits for a token's back-off, and a parked upstream
        4: an end waits for a free stream, and goes first
          when a stream is free, an end goes before what came first
        4: an end waits for a pause
          an end waits for a pause, and then goes alone
        4: an end may share its second
          an end may share its second
        4: an end goes at 10 while tokens remain
          an end goes at 10, also where no tokens remain
        4: nothing but its repetition follows an end
          an end waits for no bucket, no spacing and no push in flight
          after an end it is the end that goes again
        4: an alert goes to the last token, then at 5
          an alert goes at 10 to the last token, then at 5, and expires
        4: past its time the alert is expired, its state latest
          an alert past its time is dropped and its state still goes
          an expired alert is noted as a fact
        4: a start's alert does not expire while the start waits
          a start's alert does not expire while the start waits
        4: an alert's push carries the newest state
          an alert goes at 10 to the last token, then at 5, and expires
        4: at most 8 alerts wait
          at most eight alerts wait, and older ones expire first
        5: one start for activity, device and incarnation
          updates before the update token are held and never become further starts
        5: the newest state is held at most 8 hours
          the newest state is held for a token eight hours at most
        5: a start waits at most start_wait, whatever holds it
          no card begins after fifteen minutes, whatever held its start
          a start that may go before that goes
          a start says how long it waits, else its type does
        5: also while no relay runs
          the wait continues while no relay runs
        5: what follows a skipped start is skipped with it
          what comes later ends so too, and one line of the history says it
        5: it goes with the newest alert, which rings only within its alert_ttl
          a start comes with the newest alert, and rings only while that is news
        5: a start of unknown outcome is not repeated
          a start of unknown outcome is not repeated, and a late token revives it
        5: it waits for a token or a device's report
          a start that a phone tells of is not repeated
        5: resend: the same collapse id
          resend repeats a start of unknown outcome once its deadline has passed
        5: resend: alert included
          a start that is sent again rings again: the one case
        5: an end held for a token goes first and alone
          an end that is held for a token goes first and alone
        5: for at most 12 hours
          an end is held for a token twelve hours, and then has expired
        5: a start not sent and its end annihilate each other
          a start that was not sent and its end cancel each other
        5: a channel or an adopted activity needs no start
          an activity on a channel needs no start, and one push is for all
          a token that is there already adopts the card without a start
        6: one in flight, for at most 10 s
          one push is in flight at a time, and its silence ends after ten seconds
        6: whole seconds, rising, at most 2 s ahead
          timestamps are whole seconds, rise strictly, and stay within two seconds of the clock
        6: above the last local update
          a timestamp is above the app's own last update
          a relay after a crash knows the app's own last update
        6: a local update more than 60 s ahead counts as now
          an update of the app's own that is far ahead counts as now
        6: in lab a second is shared, the trailing push is newer
          in lab a second is shared, and the trailing push is strictly newer
          a push gets a second of its own in the end
        6: the clock is followed whole, forwards and back, after 60 s
          a step of the wall clock is followed by a minute at once, else when it has held
        6: what Apple took counts on, and holds nothing
          a stored timestamp ahead of the clock holds nothing
          a card whose phone took two hours ahead goes on from there at once
        6: a refused or surely unsent attempt puts the former back
          an attempt that Apple refused gives its timestamp back
        6: it counts while it is at most 8 h ahead
          a push that phones dropped for its timestamp sets no limit, and one that they took does
        6: after a kill the last reading and its reach, after an orderly stop nothing
          a kill is answered by the last reading and its reach, an orderly stop by nothing
        7: priority by urgency
          priority follows urgency and what is left in the bucket
          low goes at 5 and an echo too in lab
        7: a frame never takes 10 where there is a bucket
          a slowed loop shows every frame in turn at the granted interval
        8: destinations take turns, each with its newest value
          a stream limit is kept, and whoever waits takes the newest value in its turn
          where there is one place, two busy destinations take turns
          activities of a device take turns, and nobody starves
          where there is one place, a reload has its turn too
        9: a one-shot keeps its duration, sampled evenly
          a one-shot keeps its duration and is sampled evenly at the granted rate
        9: its last value is a latest
          the last value of a short tween goes as a state, and exactly
          the last frame of a flip-book that plays once is a state
          below the least rate what plays once still comes to its last value
        9: frames are sampled, never late
          a push that is late shows a frame that was asked for, and none between two
          a tween's first frame costs nothing where the phone shows it already
        9: a loop is slowed, not sub-sampled
          a slowed loop shows every frame in turn at the granted interval
          a loop visits all its frames, whatever it and the grant are
        9: a change of grant goes on from the frame shown
          a class that changes while a loop runs goes on from the frame shown
        9: below the least rate only the poster frame
          a grant below the least rate shows the poster frame only
        9: the plan says it before
          the plan tells what a phone will get before it plays
          what plays once comes to the pushes of its plan
          a dry clip tells its plan
        9: the achieved rate after
          the achieved rate is reported afterwards, even after the end and a restart
        10: step, bundle, keyframes, auto
          a clip that is too large for a bundle, or undeclared, is sent frame by frame
          a bundle is one push, and every frame counts as sent
          keyframes tell the end of each part, two seconds at most
          each keyframe but the last says when it is reached
        10: on an arc the chord stays close
          keyframes on an arc keep the chord close
          on an arc keyframes stand at most thirty degrees apart
        11: 4,096 bytes
          the largest state that fits is taken, one byte more is not
          what cannot fit is refused with the bytes that it is over
        11: 5,120 on a channel
          a broadcast has room for 5,120 bytes, of which 4,096 are state
        12: presence gates frames, not states
          states and alerts pass while frames wait
          frames stop while the app is in front and go on where they stopped
        12: a lease of 90 s
          in front lapses after ninety seconds, both edges, and leaving after its grace
        12: an older report is dropped, one ahead counts as its arrival
          an older report is dropped, and one ahead of the clock counts as its arrival
        12: transitions
          the table of transitions
        12: a value that is bound to presence
          each transition moves it, with pushes of its own, and a Control Center does not
          a push for something else carries it, and it is not compared for that
          it jumps with the next frame while a clip runs
        13: the new card first
          a card is renewed before its end, and the old one goes when the new has its route
        13: none within 10 minutes: stranded
          a new card without a route in ten minutes is stranded, and there is no second try
        13: every start carries a stale date
          every start carries a stale date
        13: never after a dismissal
          nothing is renewed after a dismissal, without being asked, or after the end
        14: 429 backs off that token
          too many requests back off that token alone
          too many requests hold back every start to the same token
          a new start token waits for no back-off of the one before
        14: 410 retires the token, compared with its registration
          a 410 retires the token it is about, and nothing goes there again
          a 410 from before the registration does not retire the token
          an old answer of Apple does not count soon after the registration
          a token that Apple calls dead again and again is dead
        14: on_token_gone
          a token that is gone stops the card, unless the producer wants another
        14: a limit that falls to 1 is obeyed and recovered from
          a stream limit of one is obeyed and recovered from
        14: 5xx: its destination is behind again; an alert waits again
          an alert that met an unwell Apple waits again, within its time
        14: the breaker opens after 8 in a row or half of 100
          eight failures in a row open the breaker, and seven do not
          half of the last hundred open it, however they are spread
        14: a push without an answer is a failure; 20 s without a word close alone
          eight pushes without an answer close it
          one push at a time closes it after twenty seconds without a word
          a word in between says that Apple is there
        14: where none was ever taken, the third phone whose topic is refused closes it
          a topic that was never right closes the upstream, and kills no further token
          a topic that was right once is not refused for all
          however many wrong tokens one phone has, it closes nothing
          tokens of another app among others are their own fault
        14: probes with one newest state; the first 200 closes it
          an unwell Apple is probed with one push at a time, and all go once it is well
          the first success closes it, and the storm before is forgotten
        14: doubling up to probe_max
          no probe waits longer than the operator allows, jitter included
          an upstream that is closed is tried as often as it may be
        15: on a sign of life, at most twice for each change
          a sign of life later than the last send brings an echo, twice for each change
          an echo that met an unwell Apple goes again
        15: once 10 minutes after the last change, at 5
          ten minutes after the last change the state goes once more at priority 5
          an echo that was due while no relay ran goes when one runs again
        15: after an end it is the end
          after an end it is the end that goes again
        16: all, an app, a type, an activity; on resume the newest
          a pause holds all, an app, a type or an activity, and resumes with the newest
        16: alerts only
          with alerts paused updates go without theirs, and starts wait
        16: durable
          a pause outlives a crash
        16: alerts past their time expire
          an alert past its time expires while paused, one within it still rings
        17: what changes nothing that shows is skipped, and goes along later
          two states look alike, or do not
          a change of what does not show is kept, and spends no push
          the echo brings what was left out
        17: the same for reloads
          widgets are not reloaded for what does not show
        17: a start, an alert, an end, a retry, a repeat and a due stale date always go
          a new life of an activity shows its own state
          alerts, stale dates and ends go all the same
          after a lost answer the state goes again, whatever shows
        Expiration: frame, start, latest, end, alert
          each push expires when its kind says
          frames expire at once and carry no alert
        """

    /// The text, read.
    static var table: [(rule: String, sentence: String, tests: [String])] {
        var table: [(rule: String, sentence: String, tests: [String])] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("  ") {
                table[table.count - 1].tests.append(String(line.dropFirst(2)))
            } else {
                let parts = line.split(separator: ":", maxSplits: 1)
                table.append((String(parts[0]), String(parts[1].dropFirst()), []))
            }
        }
        return table
    }
}

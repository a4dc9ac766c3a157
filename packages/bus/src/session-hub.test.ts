import type { LogEntry, LogFact, SessionId, TextDelta } from '@mcp-host/contracts'
import { generationId, newSessionId } from '@mcp-host/contracts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { claimed, envelope, said, started } from '../test/facts.ts'
import type { HubListener, SessionSource } from './session-hub.ts'
import { SessionHub } from './session-hub.ts'

const session: SessionId = newSessionId()

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A log whose repetition can lose entries, and whose answers can be held back. */
class FakeSource implements SessionSource {
  readonly warnings: unknown[] = []
  reads = 0
  isOpen = true
  /** How far the replica is that is asked, unless told that there is more. */
  replicaSeq = Infinity
  #log: LogEntry[] = []
  #onDelta: (delta: TextDelta) => void = () => {}
  #onEntry: (entry: LogEntry, previous: number) => void = () => {}
  #gate: Promise<void> = Promise.resolve()
  #failure: Error | undefined

  listen(
    onEntry: (entry: LogEntry, previous: number) => void,
    onDelta: (delta: TextDelta) => void,
  ): Disposable {
    this.#onEntry = onEntry
    this.#onDelta = onDelta
    return {
      [Symbol.dispose]: () => {
        this.isOpen = false
      },
    }
  }

  async read(after: number, through: number): Promise<LogEntry[]> {
    this.reads++
    const visible = Math.max(through, this.replicaSeq)
    // What is stored when the question arrives, as the broker does it.
    const found = this.#log.filter(({ seq }) => seq > after && seq <= visible)
    const failure = this.#failure
    await this.#gate
    if (failure !== undefined) throw failure
    return found
  }

  async last(): Promise<LogEntry | null> {
    if (this.#failure !== undefined) throw this.#failure
    return this.#log.at(-1) ?? null
  }

  warn(error: unknown): void {
    this.warnings.push(error)
  }

  /** Stores an entry; its repetition is lost. */
  lose(seq: number, fact: LogFact): void {
    this.#log.push({ ...fact, session, envelope, seq, time: 0 })
  }

  /** Stores an entry and repeats it. */
  store(seq: number, fact: LogFact): void {
    const previous = this.#log.findLast(({ kind }) => kind === fact.kind)?.seq ?? 0
    this.lose(seq, fact)
    this.repeat(seq, previous)
  }

  repeat(seq: number, previous: number): void {
    const entry = this.#log.find((each) => each.seq === seq)
    if (entry !== undefined) this.#onEntry(entry, previous)
  }

  purge(): void {
    this.#log = []
  }

  /** A piece of text comes. */
  write(): void {
    this.#onDelta({ generation: generationId(session, 1), offset: 0, kind: 'text', text: 'a' })
  }

  /** Answers of the log are held back until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gate = promise
    return resolve
  }

  fail(failure: Error | undefined): void {
    this.#failure = failure
  }
}

/** Lets all answers come that are not held back. */
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)

const silent: HubListener = {
  entry: () => {},
  delta: () => {},
  progress: () => {},
  checked: () => {},
  purged: () => {},
  lost: () => {},
}

async function openHub(prepare: (source: FakeSource) => void = () => {}) {
  const source = new FakeSource()
  prepare(source)
  const hub = new SessionHub(source)
  const given: number[] = []
  let checks = 0
  const listener = {
    ...silent,
    entry: ({ seq }: LogEntry) => void given.push(seq),
    checked: () => void checks++,
  }
  hub.add(listener)
  await hub.opened()
  await settle()
  return { source, hub, listener, given, checks: () => checks }
}

describe('at the start', () => {
  test('the log is asked how far it goes, and not read', async () => {
    const { source } = await openHub((log) => log.lose(10, said('old')))
    expect(source.reads).toBe(0)
  })

  test('what is stored while it is asked is given', async () => {
    const source = new FakeSource()
    using hub = new SessionHub(source)
    const given: number[] = []
    const entry = ({ seq }: LogEntry): void => void given.push(seq)
    hub.add({ ...silent, entry })
    source.store(10, said('a'))
    await hub.opened()
    await settle()
    expect(given).toEqual([10])
  })
})

describe('live entries', () => {
  test('come after the text that was held back for many listeners', async () => {
    const { source, hub } = await openHub()
    const told: string[] = []
    for (let index = 0; index < 999; index++) hub.add({ ...silent })
    hub.add({
      ...silent,
      entry: () => void told.push('entry'),
      delta: () => void told.push('text'),
    })
    source.write()
    source.write()
    await vi.advanceTimersByTimeAsync(100)
    expect(told).toEqual(['text'])
    source.store(10, said('a'))
    await vi.advanceTimersByTimeAsync(100)
    expect(told).toEqual(['text', 'text', 'entry'])
  })

  test('are given as they come, without asking the log again', async () => {
    const { source, given } = await openHub((log) => log.lose(10, said('old')))
    const { reads } = source
    source.store(11, said('a'))
    source.store(12, claimed('o', 11))
    source.store(15, said('b'))
    expect(given).toEqual([11, 12, 15])
    expect(source.reads).toBe(reads)
  })

  test('that come twice or late are given once', async () => {
    const { source, given } = await openHub()
    source.store(10, said('a'))
    source.store(11, said('b'))
    source.repeat(11, 10)
    source.repeat(10, 0)
    expect(given).toEqual([10, 11])
  })

  test('that come before the start is known are not lost', async () => {
    const source = new FakeSource()
    const hub = new SessionHub(source)
    const given: number[] = []
    hub.add({ ...silent, entry: ({ seq }) => void given.push(seq) })
    source.store(10, said('a'))
    await hub.opened()
    source.store(11, said('b'))
    await settle()
    expect(given).toEqual([10, 11])
  })
})

describe('a lost live entry', () => {
  test('is noticed by the next on its subject', async () => {
    const { source, given } = await openHub()
    source.lose(10, said('lost'))
    source.store(11, said('next'))
    await settle()
    expect(given).toEqual([10, 11])
  })

  test('on another subject is noticed by the next turn event, whose writer had read it', async () => {
    const { source, given } = await openHub()
    source.lose(10, said('lost'))
    source.store(11, claimed('o', 10))
    await settle()
    expect(given).toEqual([10, 11])
  })

  test('that is the last is found within two seconds', async () => {
    const { source, given, checks } = await openHub()
    source.lose(10, said('lost'))
    expect(checks()).toBe(0)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(given).toEqual([10])
    expect(checks()).toBe(1)
  })

  test('is looked for only every fifteen seconds while text comes', async () => {
    const { source, hub, given, checks } = await openHub()
    hub.add(silent)
    source.lose(10, said('lost'))
    for (let second = 0; second < 14; second++) {
      source.write()
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(checks()).toBe(0)
    source.write()
    await vi.advanceTimersByTimeAsync(2_000)
    expect(given).toEqual([10])
  })

  test('in a session where nothing happens is found within fifteen seconds', async () => {
    const { source, given, checks } = await openHub()
    await vi.advanceTimersByTimeAsync(60_000)
    const before = checks()
    await vi.advanceTimersByTimeAsync(30_000)
    expect(checks()).toBe(before + 2)
    expect(source.reads).toBe(0)
    source.lose(10, said('lost'))
    await vi.advanceTimersByTimeAsync(15_000)
    expect(given).toEqual([10])
  })

  test('of an interruption comes before what is repeated first after it', async () => {
    const { source, hub, given } = await openHub()
    hub.interrupted()
    source.lose(10, said('lost'))
    // Nothing about it says that the message before it is missing.
    source.store(11, started(session, 1))
    await settle()
    hub.check()
    await settle()
    expect(given).toEqual([10, 11])
  })
})

describe('while the log is looked up', () => {
  test('live entries wait for their turn', async () => {
    const { source, given } = await openHub()
    const release = source.hold()
    source.lose(10, said('lost'))
    source.store(11, said('shows the hole'))
    source.store(12, claimed('o'))
    expect(given).toEqual([])
    release()
    await settle()
    expect(given).toEqual([10, 11, 12])
  })

  test('an interruption makes it look again', async () => {
    const { source, hub, given } = await openHub()
    const release = source.hold()
    hub.check()
    hub.interrupted()
    source.lose(10, said('lost'))
    release()
    await settle()
    expect(given).toEqual([10])
  })

  test('a failure is told, and made good at the next look', async () => {
    const { source, hub, given } = await openHub()
    source.fail(new Error('away'))
    source.lose(10, said('lost'))
    hub.check()
    await settle()
    expect(source.warnings).toHaveLength(1)
    source.fail(undefined)
    source.store(11, started(session, 1))
    await settle()
    expect(given).toEqual([10, 11])
  })

  test('a failure is made good at once when the connection came back meanwhile', async () => {
    const { source, hub, given } = await openHub()
    source.fail(new Error('away'))
    const release = source.hold()
    hub.check()
    source.fail(undefined)
    source.lose(10, said('lost'))
    hub.check()
    release()
    await settle()
    expect(given).toEqual([10])
  })

  test('a failure does not make an idle session wait long', async () => {
    const { source, given } = await openHub()
    await vi.advanceTimersByTimeAsync(60_000)
    source.fail(new Error('away'))
    await vi.advanceTimersByTimeAsync(15_000)
    source.fail(undefined)
    source.lose(10, said('lost'))
    await vi.advanceTimersByTimeAsync(2_000)
    expect(given).toEqual([10])
  })
})

describe('where the replica that is asked lags', () => {
  test('what the next on its subject shows to be missing is given at once', async () => {
    const { source, given } = await openHub((log) => log.lose(9, said('old')))
    source.replicaSeq = 9
    source.lose(10, said('lost'))
    source.store(11, said('next'))
    await settle()
    expect(given).toEqual([10, 11])
  })

  test('what a turn event says its writer had read is given at once', async () => {
    const { source, given } = await openHub()
    source.replicaSeq = 0
    source.lose(10, started(session, 1))
    source.store(11, claimed('o', 10))
    await settle()
    expect(given).toEqual([10, 11])
  })

  test('what came while the log was looked up is given at once', async () => {
    const { source, hub, given } = await openHub()
    source.replicaSeq = 0
    const release = source.hold()
    hub.check()
    source.store(10, said('a'))
    release()
    await settle()
    expect(given).toEqual([10])
  })

  test('what came before the start is known is given at once', async () => {
    const source = new FakeSource()
    source.replicaSeq = 0
    const hub = new SessionHub(source)
    const given: number[] = []
    const listener = {
      ...silent,
      entry: ({ seq }: LogEntry) => void given.push(seq),
    }
    hub.add(listener)
    source.store(10, said('a'))
    await hub.opened()
    await settle()
    expect(given).toEqual([10])
  })

  test('what an interruption hid is given as soon as it is over', async () => {
    const { source, hub, given } = await openHub()
    source.replicaSeq = 0
    hub.interrupted()
    source.lose(10, said('lost'))
    hub.check()
    await settle()
    source.store(11, started(session, 1))
    await settle()
    expect(given).toEqual([10, 11])
  })

  test('what a failed look may have missed is given by the next', async () => {
    const { source, hub, given } = await openHub()
    source.replicaSeq = 0
    source.fail(new Error('away'))
    hub.interrupted()
    source.lose(10, said('lost'))
    hub.check()
    await settle()
    source.fail(undefined)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(given).toEqual([10])
  })
})

test('who missed that the session was deleted learns of it from the empty log', async () => {
  const { source, hub } = await openHub((log) => log.lose(9, said('old')))
  let purges = 0
  hub.add({ ...silent, purged: () => void purges++ })
  source.purge()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(purges).toBe(1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(purges).toBe(1)
  // And who comes to those that have not left yet.
  hub.add({ ...silent, purged: () => void purges++ })
  expect(purges).toBe(2)
})

test('a hub that is disposed listens no more, asks no more and says no more', async () => {
  const { source, hub, listener, given } = await openHub()
  expect(hub.isUnused).toBe(false)
  hub.remove(listener)
  expect(hub.isUnused).toBe(true)
  const { reads } = source
  hub[Symbol.dispose]()
  expect(source.isOpen).toBe(false)
  source.lose(10, said('a'))
  hub.check()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(source.reads).toBe(reads)
  expect(given).toEqual([])
})

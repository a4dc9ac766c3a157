import type { LogEntry, LogFact, SessionId, TextDelta } from '@mcp-host/contracts'
import { generationId, newSessionId } from '@mcp-host/contracts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { turnClaimed, envelope, userMessage, toolStarted } from '../test/facts.ts'
import type { HubListener, SessionSource } from './session-hub.ts'
import { SessionHub } from './session-hub.ts'

const session: SessionId = newSessionId()

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A log whose live entries can get lost, and whose answers can be held. */
class FakeSource implements SessionSource {
  readonly warnings: unknown[] = []
  reads = 0
  isOpen = true
  /** The last sequence of the replica that answers a read without a `through`. */
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
    // The broker, too, answers with the entries that are stored when the request arrives.
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

  /** Stores an entry whose live message is lost. */
  lose(seq: number, fact: LogFact): void {
    this.#log.push({ ...fact, session, envelope, seq, time: 0 })
  }

  /** Stores an entry and sends its live message. */
  store(seq: number, fact: LogFact): void {
    const previous = this.#log.findLast(({ kind }) => kind === fact.kind)?.seq ?? 0
    this.lose(seq, fact)
    this.sendLive(seq, previous)
  }

  sendLive(seq: number, previous: number): void {
    const entry = this.#log.find((each) => each.seq === seq)
    if (entry !== undefined) this.#onEntry(entry, previous)
  }

  purge(): void {
    this.#log = []
  }

  /** Sends a piece of text. */
  write(): void {
    this.#onDelta({ generation: generationId(session, 1), offset: 0, kind: 'text', text: 'a' })
  }

  /** Holds answers of the log until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gate = promise
    return resolve
  }

  fail(failure: Error | undefined): void {
    this.#failure = failure
  }
}

/** Lets all pending answers arrive that are not held. */
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0)

const silent: HubListener = {
  entry: () => {},
  delta: () => {},
  progress: () => {},
  checked: () => {},
  purged: () => {},
  lost: () => {},
}

function createHub(prepare: (source: FakeSource) => void = () => {}) {
  const source = new FakeSource()
  prepare(source)
  const hub = new SessionHub(source)
  const seqs: number[] = []
  let checks = 0
  const listener = {
    ...silent,
    entry: ({ seq }: LogEntry) => void seqs.push(seq),
    checked: () => void checks++,
  }
  hub.add(listener)
  return { source, hub, listener, seqs, checks: () => checks }
}

/** A hub that knows the end of its log. */
async function openHub(prepare?: (source: FakeSource) => void) {
  const created = createHub(prepare)
  await created.hub.opened()
  await settle()
  return created
}

describe('the start of a hub', () => {
  test('the start of a hub requests the end of the log without reading it', async () => {
    const { source } = await openHub((log) => log.lose(10, userMessage('old')))
    expect(source.reads).toBe(0)
  })

  test('an entry that is stored during the start of a hub is delivered', async () => {
    const { source, hub, seqs } = createHub()
    source.store(10, userMessage('a'))
    await hub.opened()
    await settle()
    expect(seqs).toEqual([10])
  })
})

describe('live entries', () => {
  test('a live entry is delivered after text that was batched for many listeners', async () => {
    const { source, hub } = await openHub()
    const items: string[] = []
    for (let index = 0; index < 999; index++) hub.add({ ...silent })
    hub.add({
      ...silent,
      entry: () => void items.push('entry'),
      delta: () => void items.push('text'),
    })
    source.write()
    source.write()
    await vi.advanceTimersByTimeAsync(100)
    expect(items).toEqual(['text'])
    source.store(10, userMessage('a'))
    await vi.advanceTimersByTimeAsync(100)
    expect(items).toEqual(['text', 'text', 'entry'])
  })

  test('live entries are delivered as they arrive, without reading the log', async () => {
    const { source, seqs } = await openHub((log) => log.lose(10, userMessage('old')))
    const { reads } = source
    source.store(11, userMessage('a'))
    source.store(12, turnClaimed('o', 11))
    source.store(15, userMessage('b'))
    expect(seqs).toEqual([11, 12, 15])
    expect(source.reads).toBe(reads)
  })

  test('duplicate and late live entries are delivered once', async () => {
    const { source, seqs } = await openHub()
    source.store(10, userMessage('a'))
    source.store(11, userMessage('b'))
    source.sendLive(11, 10)
    source.sendLive(10, 0)
    expect(seqs).toEqual([10, 11])
  })

  test('live entries that arrive before the end of the log are delivered', async () => {
    const { source, hub, seqs } = createHub()
    source.store(10, userMessage('a'))
    await hub.opened()
    source.store(11, userMessage('b'))
    await settle()
    expect(seqs).toEqual([10, 11])
  })
})

describe('a lost live entry', () => {
  test('a lost live entry is detected by the next on its subject', async () => {
    const { source, seqs } = await openHub()
    source.lose(10, userMessage('lost'))
    source.store(11, userMessage('next'))
    await settle()
    expect(seqs).toEqual([10, 11])
  })

  test('a lost live entry on another subject is detected by the next turn event, whose writer had read it', async () => {
    const { source, seqs } = await openHub()
    source.lose(10, userMessage('lost'))
    source.store(11, turnClaimed('o', 10))
    await settle()
    expect(seqs).toEqual([10, 11])
  })

  test('a lost last entry is found within two seconds', async () => {
    const { source, seqs, checks } = await openHub()
    source.lose(10, userMessage('lost'))
    expect(checks()).toBe(0)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(seqs).toEqual([10])
    expect(checks()).toBe(1)
  })

  test('the log is checked only every fifteen seconds while text arrives', async () => {
    const { source, hub, seqs, checks } = await openHub()
    hub.add(silent)
    source.lose(10, userMessage('lost'))
    for (let second = 0; second < 14; second++) {
      source.write()
      await vi.advanceTimersByTimeAsync(1_000)
    }
    expect(checks()).toBe(0)
    source.write()
    await vi.advanceTimersByTimeAsync(2_000)
    expect(seqs).toEqual([10])
  })

  test('a lost entry of an idle session is found within fifteen seconds', async () => {
    const { source, seqs, checks } = await openHub()
    await vi.advanceTimersByTimeAsync(60_000)
    const before = checks()
    await vi.advanceTimersByTimeAsync(30_000)
    expect(checks()).toBe(before + 2)
    expect(source.reads).toBe(0)
    source.lose(10, userMessage('lost'))
    await vi.advanceTimersByTimeAsync(15_000)
    expect(seqs).toEqual([10])
  })

  test('an entry lost in an interruption is delivered before the first live entry after it', async () => {
    const { source, hub, seqs } = await openHub()
    hub.interrupted()
    source.lose(10, userMessage('lost'))
    // The previous sequence of this live message does not reveal the loss.
    source.store(11, toolStarted(session, 1))
    await settle()
    hub.check()
    await settle()
    expect(seqs).toEqual([10, 11])
  })
})

describe('a read of the log', () => {
  test('live entries wait for a read of the log', async () => {
    const { source, seqs } = await openHub()
    const release = source.hold()
    source.lose(10, userMessage('lost'))
    source.store(11, userMessage('reveals the gap'))
    source.store(12, turnClaimed('o'))
    expect(seqs).toEqual([])
    release()
    await settle()
    expect(seqs).toEqual([10, 11, 12])
  })

  test('an interruption during a read of the log repeats the read', async () => {
    const { source, hub, seqs } = await openHub()
    const release = source.hold()
    hub.check()
    hub.interrupted()
    source.lose(10, userMessage('lost'))
    release()
    await settle()
    expect(seqs).toEqual([10])
  })

  test('a failed read of the log is logged, and retried at the next check', async () => {
    const { source, hub, seqs } = await openHub()
    source.fail(new Error('away'))
    source.lose(10, userMessage('lost'))
    hub.check()
    await settle()
    expect(source.warnings).toHaveLength(1)
    source.fail(undefined)
    source.store(11, toolStarted(session, 1))
    await settle()
    expect(seqs).toEqual([10, 11])
  })

  test('a failed read of the log is retried at once when the connection is back', async () => {
    const { source, hub, seqs } = await openHub()
    source.fail(new Error('away'))
    const release = source.hold()
    hub.check()
    source.fail(undefined)
    source.lose(10, userMessage('lost'))
    hub.check()
    release()
    await settle()
    expect(seqs).toEqual([10])
  })

  test('a failed read of the log shortens the interval of an idle session', async () => {
    const { source, seqs } = await openHub()
    await vi.advanceTimersByTimeAsync(60_000)
    source.fail(new Error('away'))
    await vi.advanceTimersByTimeAsync(15_000)
    source.fail(undefined)
    source.lose(10, userMessage('lost'))
    await vi.advanceTimersByTimeAsync(2_000)
    expect(seqs).toEqual([10])
  })
})

describe('a replica that lags', () => {
  test('an entry that the next on its subject reveals is delivered even if the replica lags', async () => {
    const { source, seqs } = await openHub((log) => log.lose(9, userMessage('old')))
    source.replicaSeq = 9
    source.lose(10, userMessage('lost'))
    source.store(11, userMessage('next'))
    await settle()
    expect(seqs).toEqual([10, 11])
  })

  test('an entry that a turn event reveals is delivered even if the replica lags', async () => {
    const { source, seqs } = await openHub()
    source.replicaSeq = 0
    source.lose(10, toolStarted(session, 1))
    source.store(11, turnClaimed('o', 10))
    await settle()
    expect(seqs).toEqual([10, 11])
  })

  test('a live entry that arrives during a read is delivered even if the replica lags', async () => {
    const { source, hub, seqs } = await openHub()
    source.replicaSeq = 0
    const release = source.hold()
    hub.check()
    source.store(10, userMessage('a'))
    release()
    await settle()
    expect(seqs).toEqual([10])
  })

  test('a live entry that arrives before the end of the log is delivered even if the replica lags', async () => {
    const { source, hub, seqs } = createHub()
    source.replicaSeq = 0
    source.store(10, userMessage('a'))
    await hub.opened()
    await settle()
    expect(seqs).toEqual([10])
  })

  test('entries of an interruption are delivered after it even if the replica lags', async () => {
    const { source, hub, seqs } = await openHub()
    source.replicaSeq = 0
    hub.interrupted()
    source.lose(10, userMessage('lost'))
    hub.check()
    await settle()
    source.store(11, toolStarted(session, 1))
    await settle()
    expect(seqs).toEqual([10, 11])
  })

  test('entries that a failed read may have missed are delivered by the next read even if the replica lags', async () => {
    const { source, hub, seqs } = await openHub()
    source.replicaSeq = 0
    source.fail(new Error('away'))
    hub.interrupted()
    source.lose(10, userMessage('lost'))
    hub.check()
    await settle()
    source.fail(undefined)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(seqs).toEqual([10])
  })
})

test('a listener that missed the deletion of its session learns of it from the empty log', async () => {
  const { source, hub } = await openHub((log) => log.lose(9, userMessage('old')))
  let purges = 0
  hub.add({ ...silent, purged: () => void purges++ })
  source.purge()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(purges).toBe(1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(purges).toBe(1)
  // A listener that joins the listeners of a deleted session learns of it, too.
  hub.add({ ...silent, purged: () => void purges++ })
  expect(purges).toBe(2)
})

test('a disposed hub neither listens nor reads nor delivers', async () => {
  const { source, hub, listener, seqs } = await openHub()
  expect(hub.isUnused).toBe(false)
  hub.remove(listener)
  expect(hub.isUnused).toBe(true)
  const { reads } = source
  hub[Symbol.dispose]()
  expect(source.isOpen).toBe(false)
  source.lose(10, userMessage('a'))
  hub.check()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(source.reads).toBe(reads)
  expect(seqs).toEqual([])
})

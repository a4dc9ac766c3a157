import type { Up } from '@mcp-host/contracts'

/** A frame that is sent until the gateway has accepted or refused it. Its id makes it count once. */
export type OutFrame = Exclude<Up, { type: 'ping' }>

/** Keeps frames that are not accepted yet, beyond the life of a page. */
export interface OutboxStore {
  readonly load: () => readonly OutFrame[]
  readonly save: (frames: readonly OutFrame[]) => void
}

interface Entry {
  readonly frame: OutFrame
  readonly accept: (accepted: { readonly duplicate: boolean }) => void
  readonly refuse: (error: Error) => void
}

/** Frames in the order in which they were made, until each is accepted or refused. */
export class Outbox {
  readonly #entries = new Map<string, Entry>()
  readonly #store: OutboxStore | undefined

  /** `onRefused`: is called for frames of an earlier client, whose promises are gone. */
  constructor(
    store: OutboxStore | undefined,
    onRefused: (id: string, error: Error) => void = () => undefined,
  ) {
    this.#store = store
    for (const frame of store?.load() ?? []) {
      const id = idOf(frame)
      const refuse = (error: Error): void => onRefused(id, error)
      this.#entries.set(id, { frame, accept: () => undefined, refuse })
    }
  }

  get frames(): readonly OutFrame[] {
    return Array.from(this.#entries.values(), ({ frame }) => frame)
  }

  has(id: string): boolean {
    return this.#entries.has(id)
  }

  /** Resolves when the frame is accepted; rejects when it is refused. */
  add(frame: OutFrame): Promise<{ readonly duplicate: boolean }> {
    const {
      promise,
      resolve: accept,
      reject: refuse,
    } = Promise.withResolvers<{ duplicate: boolean }>()
    this.#entries.set(idOf(frame), { frame, accept, refuse })
    this.#save()
    return promise
  }

  accepted(id: string, duplicate: boolean): void {
    this.#take(id)?.accept({ duplicate })
  }

  refused(id: string, error: Error): void {
    this.#take(id)?.refuse(error)
  }

  /** Refuses all frames. They stay in the store, for a later client. */
  end(error: Error): void {
    for (const { refuse } of this.#entries.values()) refuse(error)
    this.#entries.clear()
  }

  #take(id: string): Entry | undefined {
    const entry = this.#entries.get(id)
    this.#entries.delete(id)
    if (entry !== undefined) this.#save()
    return entry
  }

  #save(): void {
    this.#store?.save(this.frames)
  }
}

/** The id by which the gateway answers to a frame. */
export function idOf({ type, payload }: OutFrame): string {
  if (type === 'cancel-call') return payload.callId
  const id = type === 'cancel' ? payload.messageId : payload.id
  return id ?? ''
}

/**
 * Keeps the outbox of one session in the storage of a browser: one entry for each frame, since several tabs may have the
 * session open. The keys of the entries begin with `key` and a space.
 */
export function storedOutbox(
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>,
  key: string,
): OutboxStore {
  const keys = new Map<string, string>()
  let count = 0
  return {
    load() {
      const all = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '')
      return all
        .filter((each) => each.startsWith(`${key} `))
        .toSorted()
        .map((each) => {
          // The text was written below.
          const frame = JSON.parse(storage.getItem(each) ?? '') as OutFrame
          keys.set(idOf(frame), each)
          return frame
        })
    },
    save(frames) {
      const ids = new Set(frames.map(idOf))
      for (const [id, each] of keys) {
        if (ids.has(id)) continue
        storage.removeItem(each)
        keys.delete(id)
      }
      for (const frame of frames) {
        const id = idOf(frame)
        if (keys.has(id)) continue
        // Keys in the order of the frames.
        const place = `${Date.now()}.${String(count++).padStart(6, '0')}`
        keys.set(id, `${key} ${place} ${id}`)
        storage.setItem(`${key} ${place} ${id}`, JSON.stringify(frame))
      }
    },
  }
}

import type { ClientEvent, Message, Session } from '@mcp-host/client'
import { foldTurn } from './fold-turn.ts'
import { historyTurns } from './history-turns.ts'
import { Store } from './store.ts'
import type { Item, Turn } from './turn.ts'
import { newTurn } from './turn.ts'

export type TurnStore = Store<Turn>

type UserEvent = Extract<ClientEvent, { type: 'user' }>['payload']

const UNANSWERED: ReadonlySet<Turn['state']> = new Set(['queued', 'running', 'waiting'])

/** The conversation of a session, of which each turn changes alone. */
export class Thread {
  /** The turns of the shown branch, the oldest first. */
  readonly turns = new Store<readonly TurnStore[]>([])
  readonly #known = new Map<string, TurnStore>()
  /** Id of the message whose answer arrives. */
  #running: string | undefined
  /** Id of the newest message of all branches, which the next one follows unless it says otherwise. */
  #newest: string | undefined
  /** Messages of the first page of the history, whose events may come again. */
  #first = new Set<string>()
  readonly #changes = new Store(0)

  /** Calls the listener after changes of any turn. */
  readonly subscribeChanges = this.#changes.subscribe

  /** Shows the newest page of the history. */
  load(messages: readonly Message[]): void {
    const ids = messages.flatMap(({ role, id }) => (role === 'user' ? id : []))
    this.#newest = ids.at(-1)
    this.#first = new Set(ids)
    this.show(messages)
  }

  /** Shows the newest page of a branch, and behind it what the host does not have. */
  show(messages: readonly Message[]): void {
    const pending = this.turns.get().filter(isPending)
    const loaded = historyTurns(messages).map((turn) => this.#put(turn))
    this.turns.set(loaded)
    for (const each of pending) {
      if (loaded.includes(each)) continue
      if (each.get().state === 'unsent') this.#insert(each.get())
      else this.turns.set([...this.turns.get(), each])
    }
    this.#changed()
  }

  /** Puts an older page before the others. */
  prepend(messages: readonly Message[]): void {
    const older = historyTurns(messages).map((turn) => this.#put(turn))
    const shown = this.turns.get()
    this.turns.set([...older.filter((each) => !shown.includes(each)), ...shown])
  }

  /** A message that the host has not confirmed. It continues the shown branch, or begins another one in it. */
  addUnsent(turn: Turn): void {
    this.#insert({ ...turn, state: 'unsent' })
    this.#changed()
  }

  /** Id of the message that the next one has to follow; `undefined`: it continues the shown branch by itself. */
  get end(): string | undefined {
    const last = this.turns.get().findLast((each) => each.get().state !== 'refused')
    const { id, state, follows } = last?.get() ?? {}
    if (state === 'unsent') return follows === undefined ? undefined : id
    return id === this.#newest ? undefined : id
  }

  /** Id of the first message that is not answered, on any branch. */
  get unanswered(): string | undefined {
    for (const [id, turn] of this.#known) if (UNANSWERED.has(turn.get().state)) return id
    return undefined
  }

  /** `waiting`: the user is asked; `undefined`: everything is answered. */
  get activity(): Session['activity'] {
    let activity: Session['activity']
    for (const turn of this.#known.values()) {
      if (isAsking(turn)) return 'waiting'
      if (UNANSWERED.has(turn.get().state)) activity = 'running'
    }
    return activity
  }

  /** Whether the user is asked on the shown branch. */
  get asks(): boolean {
    return this.turns.get().some(isAsking)
  }

  /** Id of the last message on the shown branch whose turn has ended. */
  get lastEnded(): string | undefined {
    return this.turns
      .get()
      .findLast((each) => each.get().state === 'done')
      ?.get().id
  }

  /** The messages that the host does not take. */
  get refused(): readonly Turn[] {
    return this.turns.get().flatMap((each) => (each.get().state === 'refused' ? each.get() : []))
  }

  /** Shows a message that the host has refused before. */
  addRefused(turn: Turn): void {
    this.turns.set([...this.turns.get(), this.#put(turn)])
  }

  refuse(id: string, error: string): void {
    this.#change(id, (turn) =>
      turn.state === 'unsent' ? { ...turn, state: 'refused', error, branches: [id] } : turn,
    )
    this.#changed()
  }

  /** Takes a refused message away. */
  discard(id: string): void {
    this.turns.set(this.turns.get().filter((each) => each.get().id !== id))
    this.#known.delete(id)
    this.#changed()
  }

  /**
   * Applies events in their order; each turn is shown again once. Returns the id of a new message that is not on the
   * shown branch.
   */
  take(events: readonly ClientEvent[]): string | undefined {
    let elsewhere: string | undefined
    const changed = new Map<string, Turn>()
    const change = (id: string, next: (turn: Turn) => Turn): void => {
      const turn = changed.get(id) ?? this.#known.get(id)?.get()
      if (turn !== undefined) changed.set(id, next(turn))
    }
    for (const event of events) {
      if (event.type === 'user') {
        const { messageId } = event.payload
        const before = changed.get(messageId)
        if (before !== undefined) this.#known.get(messageId)?.set(before)
        changed.delete(messageId)
        const place = this.#addUser(event.payload)
        if (place === 'elsewhere') elsewhere = messageId
        // The newest message is shown, whatever was said elsewhere before.
        if (place === 'new') elsewhere = undefined
      } else if (event.type === 'queue') this.#setQueue(event.payload.messages, change)
      else {
        if (event.type === 'turn' && event.payload.state === 'started') {
          this.#running = event.payload.messageId
          if (!this.#known.has(this.#running)) this.#insert(newTurn(this.#running, ''))
        }
        // Events before the first beginning of a turn are of an ended one.
        if (this.#running === undefined) continue
        change(this.#running, (turn) => foldTurn(turn, event))
        if (event.type === 'turn' && event.payload.state === 'done') this.#running = undefined
      }
    }
    for (const [id, turn] of changed) this.#known.get(id)?.set(turn)
    this.#changed()
    return elsewhere
  }

  /** Puts a message of the host into its place on the shown branch, unless it is there, or `elsewhere`. */
  #addUser(event: UserEvent): 'new' | 'known' | 'elsewhere' {
    const { messageId, text, attachments = [], replaces, follows } = event
    const known = this.#known.get(messageId)
    const shown = this.turns.get()
    const isShown = known !== undefined && shown.includes(known)
    const isOwn = known !== undefined && isPending(known)
    // The place of an unsent version is where the user began it; the end may be another branch by now.
    const isPlaced = isShown && (!isOwn || known.get().replaces !== undefined)
    if (isShown && !isPlaced) this.turns.set(shown.filter((each) => each !== known))
    const isInserted =
      !isPlaced &&
      (known === undefined || isOwn) &&
      this.#insert(
        newTurn(messageId, text, { at: known?.get().at, attachments, replaces, follows }),
      )
    if (isPlaced) {
      const news = isOwn ? ({ state: 'queued', error: undefined } as const) : {}
      known.set({ ...known.get(), text, attachments, ...news })
    }
    if (!this.#first.has(messageId)) this.#newest = messageId
    if (isInserted) return isShown ? 'known' : 'new'
    return isPlaced ? 'known' : 'elsewhere'
  }

  #setQueue(
    queue: readonly { readonly messageId: string; readonly position: number }[],
    change: (id: string, next: (turn: Turn) => Turn) => void,
  ): void {
    const positions = new Map(queue.map(({ messageId, position }) => [messageId, position]))
    for (const each of this.#known.values()) {
      const { id, position } = each.get()
      const next = positions.get(id)
      if (next === position) continue
      // A message leaves the queue when its turn begins, or when the user takes it back.
      const isBack = (state: Turn['state']): boolean => next === undefined && state === 'queued'
      change(id, (turn) => ({
        ...turn,
        position: next,
        state: isBack(turn.state) ? 'withdrawn' : turn.state,
      }))
    }
  }

  /** Puts a turn into its place on the shown branch. False: it belongs to another branch. */
  #insert(turn: Turn): boolean {
    const store = this.#put(turn)
    const shown = this.turns.get()
    const sent = shown.slice(0, shown.findLastIndex((each) => !isPending(each)) + 1)
    const isOwn = turn.state === 'unsent'
    const place = isOwn && turn.replaces === undefined ? -1 : this.#placeOf(turn, sent)
    if (place === -1) {
      if (isOwn) this.turns.set([...shown, store])
      return isOwn
    }
    const pending = shown.slice(sent.length).filter((each) => each !== store)
    const beside = sent[place]?.get().branches ?? []
    store.set({ ...store.get(), branches: [...beside.filter((id) => id !== turn.id), turn.id] })
    this.turns.set([...shown.slice(0, place), store, ...pending])
    return true
  }

  /** The index of a turn on the shown branch, or -1. `sent`: the turns that the host has. */
  #placeOf({ replaces, follows }: Turn, sent: readonly TurnStore[]): number {
    const indexOf = (id: string): number => sent.findIndex((each) => each.get().id === id)
    // Another version may have taken the place of the message.
    if (replaces !== undefined)
      return sent.findIndex((each) => each.get().branches.includes(replaces))
    const parent = follows ?? this.#newest
    if (parent === undefined) return sent.length
    const index = indexOf(parent)
    return index === -1 ? -1 : index + 1
  }

  #put(turn: Turn): TurnStore {
    const known = this.#known.get(turn.id)
    if (known !== undefined) {
      const before = known.get()
      const { at = before.at, branches } = turn
      known.set(isFollowed(before) ? { ...before, at, branches } : turn)
      return known
    }
    const store = new Store(turn)
    this.#known.set(turn.id, store)
    return store
  }

  #changed(): void {
    this.#changes.set(this.#changes.get() + 1)
  }

  #change(id: string, next: (turn: Turn) => Turn): void {
    const store = this.#known.get(id)
    store?.set(next(store.get()))
  }
}

/** Whether the host does not have the message. */
function isPending(turn: TurnStore): boolean {
  const { state } = turn.get()
  return state === 'unsent' || state === 'refused'
}

function isAsking(turn: TurnStore): boolean {
  const { state, items } = turn.get()
  return state === 'waiting' || (state === 'running' && items.some(isOpenQuestion))
}

function isOpenQuestion(item: Item): boolean {
  return item.kind === 'question' && item.end === undefined
}

/** Whether events have brought more of the turn than the history has; they come only once. */
function isFollowed({ state, items }: Turn): boolean {
  return state === 'running' || state === 'waiting' || (state === 'done' && items.length > 0)
}

import type { Answer, ClientEvent, ClientState, MessageExtras, OutFrame } from '@mcp-host/client'
import { SessionClient } from '@mcp-host/client'
import { host, HOST_URL } from './host.ts'
import type { FormValues } from './form-values.ts'
import { forgetDraft, keepRefused, readRefused } from './kept-draft.ts'
import { messageOf } from './message-of.ts'
import { noteActivity } from './session-activity.ts'
import { begunBy, forgetOutbox, noteStored, sessionOutbox } from './session-outbox.ts'
import { Store } from './store.ts'
import { Thread } from './thread.ts'
import type { Attachment } from './turn.ts'
import { newTurn } from './turn.ts'

/** Turns in a page of the history. */
const PAGE_TURNS = 40

/** The history of a session: `before` leads to older messages. */
export type History =
  | { readonly state: 'loading' }
  | { readonly state: 'loaded'; readonly before: string | undefined }
  | { readonly state: 'failed'; readonly why: string }

/** An open session: its connection, its conversation and what the user does with it. */
export class ChatSession implements Disposable {
  readonly id: string
  readonly thread = new Thread()
  readonly connection = new Store<ClientState>({ state: 'connecting' })
  readonly history = new Store<History>({ state: 'loading' })
  /** Id of the message whose editor is asked for, until its view has opened it. */
  readonly wantedEditor = new Store<string | undefined>(undefined)
  /** Texts of open editors, by the id of the message. */
  readonly edited = new Map<string, string>()
  /** Values that the user has entered in forms, by the id of the question. */
  readonly entered = new Map<string, FormValues>()
  readonly #client: SessionClient
  /** Events that are not shown yet. */
  #events: ClientEvent[] = []
  #isScheduled = false
  #chosen: string | undefined
  /** Whether the history was loaded once. */
  #hasHistory: boolean
  /** Whether no message of it is known to be stored. */
  #isUnstored: boolean
  /** Number of the newest read of the history, which makes earlier ones void. */
  #read = 0
  /** The branch to show, by the id of one of its messages. */
  #wanted: string | undefined
  /** Ids of the refused messages that are kept. */
  #refusedIds: string | undefined
  readonly #unfollow: () => void

  /** `isNew`: nothing was said in it, so it has no history. */
  constructor(id: string, isNew: boolean) {
    this.id = id
    this.#hasHistory = isNew
    this.#isUnstored = isNew || begunBy(id) !== undefined
    if (isNew) this.history.set({ state: 'loaded', before: undefined })
    this.#client = new SessionClient({
      url: HOST_URL,
      sessionId: id,
      outbox: sessionOutbox(id),
      onEvent: (event) => this.#take(event),
      onState: (state) => this.#setState(state),
      onRefused: (message, error) => this.#refused(message, undefined, error),
    })
    for (const turn of readRefused(id)) this.thread.addRefused(turn)
    this.#unfollow = this.thread.subscribeChanges(() => {
      noteActivity(id, this.thread.activity ?? 'idle')
      this.#keepRefused()
    })
    for (const frame of this.#client.unaccepted) this.#showUnsent(frame)
  }

  /** Whether the host refuses the session, of which no message is known to be stored. */
  get isUnknown(): boolean {
    const state = this.connection.get()
    return this.#isUnstored && state.state === 'ended' && state.why === 'refused'
  }

  get isOverHttp(): boolean {
    const state = this.connection.get()
    return state.state === 'connected' && state.over === 'http'
  }

  /** Whether something waits to be sent. */
  get hasUnsent(): boolean {
    return this.#client.unaccepted.length > 0
  }

  say(text: string, extras: MessageExtras & { readonly files?: readonly Attachment[] } = {}): void {
    const { files = [], ...rest } = extras
    const { replaces } = rest
    const follows = replaces === undefined ? this.thread.end : undefined
    const { id, accepted } = this.#client.say(text, {
      ...rest,
      ...(follows === undefined ? {} : { follows }),
    })
    if (replaces !== undefined) this.#chosen = id
    this.thread.addUnsent(
      newTurn(id, text, { at: Date.now(), attachments: files, replaces, follows }),
    )
    accepted.catch((error: unknown) => this.#refused(id, replaces, error))
  }

  regenerate(messageId: string, text: string, model?: string): void {
    const extras = model === undefined ? {} : { model }
    const { id, accepted } = this.#client.regenerate(messageId, extras)
    this.#chosen = id
    this.thread.addUnsent(newTurn(id, text, { at: Date.now(), replaces: messageId }))
    accepted.catch((error: unknown) => this.#refused(id, messageId, error))
  }

  /** Asks for the editor of the newest message of the shown branch. */
  editLast(): void {
    this.wantedEditor.set(this.thread.turns.get().at(-1)?.get().id)
  }

  /** Resolves when the answer is stored; rejects when another one was first, or it does not fit. */
  async answer(answer: Answer): Promise<void> {
    await this.#client.answer(answer).accepted
  }

  /** Ends a turn, or takes a message back that waits. */
  stop(messageId: string): void {
    this.#client.cancel(messageId)
  }

  /** Stops one tool call. */
  stopCall(callId: string): void {
    this.#client.cancelCall(callId)
  }

  /** Loads messages before those that are shown. */
  async loadOlder(): Promise<void> {
    const history = this.history.get()
    if (history.state !== 'loaded' || history.before === undefined) return
    await this.#load({ before: history.before })
  }

  /** Shows another version of a message, which the user chose. */
  choose(messageId: string): void {
    this.#chosen = messageId
    void this.showBranch(messageId)
  }

  /** Whether the user has just chosen, or written, this version. */
  takeChosen(messageId: string): boolean {
    if (this.#chosen !== messageId) return false
    this.#chosen = undefined
    return true
  }

  /** Shows the newest branch with this message. A fault is told, and the next connection tries again. */
  async showBranch(messageId: string): Promise<void> {
    this.#wanted = messageId
    if (this.#hasHistory) await this.#load({ branch: messageId })
  }

  [Symbol.dispose](): void {
    this.#client.close()
    this.#unfollow()
    noteActivity(this.id, undefined)
  }

  #refused(id: string, replaces: string | undefined, error: unknown): void {
    const state = this.connection.get()
    // The message is kept, and sent after the next login.
    if (state.state === 'ended' && state.why !== 'deleted') return
    this.thread.refuse(id, messageOf(error))
    // What it had taken the place of is shown again.
    if (replaces !== undefined) void this.showBranch(replaces)
  }

  /** Keeps refused messages for the next load of the page. */
  #keepRefused(): void {
    const { refused } = this.thread
    const ids = refused.map(({ id }) => id).join(' ')
    if (ids === this.#refusedIds) return
    this.#refusedIds = ids
    keepRefused(this.id, refused)
  }

  #setState(state: ClientState): void {
    this.connection.set(state)
    if (state.state === 'ended' && state.why === 'deleted') {
      forgetOutbox(this.id)
      forgetDraft(this.id)
    }
    // From then on the record of the session at the host is newer than what this page knows.
    if (state.state === 'ended') noteActivity(this.id, undefined)
    if (state.state !== 'connected') return
    // The history has what was before this connection.
    if (!this.#hasHistory) void this.#load({})
    else if (this.#wanted !== undefined) void this.#load({ branch: this.#wanted })
  }

  /** Reads the newest page, an older one or that of a branch, unless another read begins meanwhile. */
  async #load(page: { readonly before?: string; readonly branch?: string }): Promise<void> {
    const read = ++this.#read
    const { before, branch } = page
    this.history.set({ state: 'loading' })
    try {
      const { messages, next } = await host.messages(this.id, { limit: PAGE_TURNS, ...page })
      if (read !== this.#read) return
      this.#noteStored()
      if (branch !== undefined) this.thread.show(messages)
      else if (before !== undefined) this.thread.prepend(messages)
      else this.thread.load(messages)
      this.history.set({ state: 'loaded', before: next })
      if (branch === this.#wanted) this.#wanted = undefined
    } catch (error) {
      if (read !== this.#read) return
      // A session without a message has no history.
      const isNew = error instanceof Error && 'status' in error && error.status === 404
      if ((isNew && branch === undefined) || before !== undefined)
        this.history.set({ state: 'loaded', before })
      else this.history.set({ state: 'failed', why: messageOf(error) })
    }
    this.#hasHistory ||= this.history.get().state === 'loaded'
    this.#schedule()
    // It was asked for while the first page was read.
    if (branch === undefined && this.#hasHistory && this.#wanted !== undefined)
      await this.#load({ branch: this.#wanted })
  }

  #noteStored(): void {
    if (this.#isUnstored) noteStored(this.id)
    this.#isUnstored = false
  }

  #take(event: ClientEvent): void {
    if (event.type === 'user') this.#noteStored()
    this.#events.push(event)
    this.#schedule()
  }

  /** Events are shown once per frame of the screen; a hidden page has none. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    if (document.hidden) setTimeout(this.#flush, 250)
    else requestAnimationFrame(this.#flush)
  }

  readonly #flush = (): void => {
    this.#isScheduled = false
    // Events wait for the history, which they change.
    if (this.history.get().state === 'loading' || this.#events.length === 0) return
    const events = this.#events
    this.#events = []
    const elsewhere = this.thread.take(events)
    if (elsewhere !== undefined) void this.showBranch(elsewhere)
  }

  /** A message that an earlier page could not send. */
  #showUnsent({ type, payload }: OutFrame): void {
    if (type !== 'message' || payload.id === undefined) return
    const { id, text, replaces, follows } = payload
    this.thread.addUnsent(newTurn(id, text, { replaces, follows }))
  }
}

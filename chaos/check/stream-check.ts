import type { Cursor, SessionEvent } from '@mcp-host/contracts'
import { parseCursor } from '@mcp-host/contracts'
import type { PlannedTurn } from '../planned-turn.ts'
import type { ObservedTurn } from './observed-turn.ts'
import { summarizeText, idArgument, ownToolName } from './observed-turn.ts'
import type { Violation } from './violation.ts'

/**
 * Checks the event stream of one client, over all its connections. Uses neither clock nor network. Events of unknown
 * types only need a valid id.
 */
export class StreamCheck {
  readonly violations: Violation[] = []
  /** The turns, by message id. */
  readonly turns = new Map<string, ObservedTurn>()
  /** The number of `user` events, by message id. */
  readonly shown = new Map<string, number>()
  /** The log sequences of the events, by message id. */
  readonly places = new Map<string, Set<number>>()
  resets = 0
  readonly #client: string
  readonly #plans: ReadonlyMap<string, PlannedTurn>
  readonly #ids = new Set<string>()
  #last: Cursor | undefined
  #turn: ObservedTurn | undefined
  /** The next text begins a generation, because a tool result has arrived. */
  #isNextGeneration = false
  /** Wrong text of this turn is already reported. All later text is wrong too. */
  #isTextWrong = false
  /** No turn has started yet. A stream that began without an id may begin within a turn. */
  #isBeforeTurn: boolean

  /** `plans` may grow during the check. `isJoined`: the session had turns before this stream. */
  constructor(
    client: string,
    plans: ReadonlyMap<string, PlannedTurn>,
    { isJoined = false }: { readonly isJoined?: boolean } = {},
  ) {
    this.#client = client
    this.#plans = plans
    this.#isBeforeTurn = isJoined
  }

  /** Id of the message whose turn is running. */
  get running(): string | undefined {
    return this.#turn?.id
  }

  take(event: SessionEvent): void {
    this.#place(event.id)
    this.#note(event)
    const isStart = event.type === 'turn' && event.payload.state === 'started'
    if (isStart) this.#isBeforeTurn = false
    if (this.#isBeforeTurn && event.type !== 'user') return
    switch (event.type) {
      case 'user': {
        const { messageId } = event.payload
        this.shown.set(messageId, (this.shown.get(messageId) ?? 0) + 1)
        return
      }
      case 'turn':
        if (event.payload.state === 'started') this.#start(event.payload.messageId)
        else if (event.payload.state === 'done')
          this.#end(event.payload.outcome, event.payload.error?.message)
        return
      case 'text':
        this.#write('text', event.payload.content)
        return
      case 'thinking':
        this.#write('thinking', event.payload.content)
        return
      case 'reset': {
        this.resets++
        const written = this.#written()
        if (written !== undefined) Object.assign(written, { thinking: '', text: '' })
        return
      }
      case 'tool':
        if (event.payload.state === 'call') this.#call(event.payload)
        else if (event.payload.state === 'result') this.#result(event.payload)
        return
      default:
    }
  }

  #place(id: string): void {
    const cursor = parseCursor(id)
    if (cursor === undefined) {
      this.#report('order', `the id ${id} is not a cursor`)
      return
    }
    if (this.#ids.has(id)) this.#report('frame twice', `the id ${id} is repeated`)
    else if (this.#last !== undefined && !isAfter(cursor, this.#last)) {
      this.#report('order', `${id} came after ${JSON.stringify(this.#last)}`)
    }
    this.#ids.add(id)
    this.#last = cursor
  }

  #note(event: SessionEvent): void {
    const message = messageOf(event) ?? this.#turn?.id
    if (message === undefined || this.#last === undefined) return
    const places = this.places.get(message) ?? new Set()
    this.places.set(message, places.add(this.#last.seq))
  }

  #start(id: string): void {
    if (this.#turn !== undefined) this.#report('turns', `${id} starts within ${this.#turn.id}`)
    if (this.turns.has(id)) this.#report('turns', `${id} starts twice`)
    this.#turn = { id, texts: [{ thinking: '', text: '' }], calls: new Map() }
    this.#isNextGeneration = false
    this.#isTextWrong = false
    this.turns.set(id, this.#turn)
  }

  #end(outcome: string, error = ''): void {
    const turn = this.#turn
    if (turn === undefined)
      return this.#report('turns', `a turn ends (${outcome}), but none is running`)
    turn.outcome = outcome
    this.#turn = undefined
    const isExpected = outcome === 'cancelled' && this.#plans.get(turn.id)?.isCancelled === true
    if (outcome !== 'completed' && !isExpected)
      this.#report('outcome', `${turn.id} ends as ${outcome}: ${error}`, turn.id)
  }

  #write(kind: 'text' | 'thinking', content: string): void {
    const turn = this.#turn
    const written = this.#written()
    if (turn === undefined || written === undefined) {
      return this.#report('text', `${kind} in no turn: ${content}`)
    }
    written[kind] += content
    const step = this.#plans.get(turn.id)?.steps[turn.texts.length - 1]
    // Text that is reset later must also be in order and without gaps.
    if (!this.#isTextWrong && step?.[kind].startsWith(written[kind].trimEnd()) !== true) {
      this.#isTextWrong = true
      this.#report('text', `${turn.id} says ${summarizeText(written)}`)
    }
  }

  #call({ callId, tool, arguments: given }: { callId: string; tool: string; arguments: unknown }) {
    const turn = this.#turn
    if (turn === undefined) return this.#report('tools', `call ${callId} in no turn`)
    if (turn.calls.has(callId)) this.#report('tools', `call ${callId} of ${turn.id} is repeated`)
    turn.calls.set(callId, { id: idArgument(given), tool: ownToolName(tool) })
  }

  #result({ callId, outcome }: { callId: string; outcome: string }): void {
    const call = this.#turn?.calls.get(callId)
    if (call === undefined) return this.#report('tools', `a result without a call: ${callId}`)
    if (call.outcome !== undefined) this.#report('tools', `${call.id} has a second result`)
    call.outcome = outcome
    this.#isNextGeneration = true
  }

  #written(): { thinking: string; text: string } | undefined {
    const texts = this.#turn?.texts
    if (this.#isNextGeneration) texts?.push({ thinking: '', text: '' })
    this.#isNextGeneration = false
    return texts?.at(-1)
  }

  #report(rule: string, detail: string, message = this.#turn?.id): void {
    this.violations.push({ rule, where: this.#client, detail, message })
  }
}

/** The message that an event names. */
function messageOf({ type, payload }: SessionEvent): string | undefined {
  if (type === 'user') return payload.messageId
  return type === 'turn' && payload.state === 'started' ? payload.messageId : undefined
}

function isAfter(one: Cursor, other: Cursor): boolean {
  if (one.seq !== other.seq) return one.seq > other.seq
  if (one.part !== other.part) return one.part > other.part
  return one.offset > other.offset
}

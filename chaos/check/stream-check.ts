import type { Cursor, SessionEvent } from '@mcp-host/contracts'
import { parseCursor } from '@mcp-host/contracts'
import type { PlannedTurn } from '../planned-turn.ts'
import type { TurnStory } from './turn-story.ts'
import { briefText, idArgument, ownToolName } from './turn-story.ts'
import type { Violation } from './violation.ts'

/**
 * Watches one client's event stream, over all its connections, for what must not be in it. Knows no
 * clock and no network. Events of types that it does not know need only a place of their own.
 */
export class StreamCheck {
  readonly violations: Violation[] = []
  /** By message. */
  readonly turns = new Map<string, TurnStory>()
  /** How often each message was shown. */
  readonly shown = new Map<string, number>()
  /** The log sequences of the events about each message. */
  readonly places = new Map<string, Set<number>>()
  resets = 0
  readonly #client: string
  readonly #plans: ReadonlyMap<string, PlannedTurn>
  readonly #ids = new Set<string>()
  #last: Cursor | undefined
  #turn: TurnStory | undefined
  /** Text that comes now belongs to the next generation: the tools of the one before have answered. */
  #isNextGeneration = false
  /** It was reported already: all that follows in the turn is wrong too. */
  #isTextWrong = false

  /** Before the first turn starts: a stream that began without an id may begin within a turn that is over. */
  #isBeforeTurn: boolean

  /** `plans` may grow while the stream is watched. `isJoined`: the session had turns before it. */
  constructor(
    client: string,
    plans: ReadonlyMap<string, PlannedTurn>,
    { isJoined = false }: { readonly isJoined?: boolean } = {},
  ) {
    this.#client = client
    this.#plans = plans
    this.#isBeforeTurn = isJoined
  }

  /** The message whose turn is under way. */
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
        const segment = this.#segment()
        if (segment !== undefined) Object.assign(segment, { thinking: '', text: '' })
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
      this.#report('order', `the id ${id} is not a place`)
      return
    }
    if (this.#ids.has(id)) this.#report('frame twice', `the id ${id} came again`)
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
    if (this.turns.has(id)) this.#report('turns', `${id} starts again`)
    this.#turn = { id, segments: [{ thinking: '', text: '' }], calls: new Map() }
    this.#isNextGeneration = false
    this.#isTextWrong = false
    this.turns.set(id, this.#turn)
  }

  #end(outcome: string, error = ''): void {
    const turn = this.#turn
    if (turn === undefined) return this.#report('turns', `a turn ends (${outcome}) and none runs`)
    turn.outcome = outcome
    this.#turn = undefined
    const isWanted = outcome === 'cancelled' && this.#plans.get(turn.id)?.isCancelled === true
    if (outcome !== 'completed' && !isWanted)
      this.#report('outcome', `${turn.id} ends as ${outcome}: ${error}`, turn.id)
  }

  #write(kind: 'text' | 'thinking', content: string): void {
    const turn = this.#turn
    const segment = this.#segment()
    if (turn === undefined || segment === undefined) {
      return this.#report('text', `${kind} in no turn: ${content}`)
    }
    segment[kind] += content
    const step = this.#plans.get(turn.id)?.steps[turn.segments.length - 1]
    // Also text that is taken back later was written in order and without holes.
    if (!this.#isTextWrong && step?.[kind].startsWith(segment[kind].trimEnd()) !== true) {
      this.#isTextWrong = true
      this.#report('text', `${turn.id} says ${briefText(segment)}`)
    }
  }

  #call({ callId, tool, arguments: given }: { callId: string; tool: string; arguments: unknown }) {
    const turn = this.#turn
    if (turn === undefined) return this.#report('tools', `call ${callId} in no turn`)
    if (turn.calls.has(callId)) this.#report('tools', `call ${callId} of ${turn.id} is made again`)
    turn.calls.set(callId, { id: idArgument(given), tool: ownToolName(tool) })
  }

  #result({ callId, outcome }: { callId: string; outcome: string }): void {
    const call = this.#turn?.calls.get(callId)
    if (call === undefined) return this.#report('tools', `a result of no call: ${callId}`)
    if (call.outcome !== undefined) this.#report('tools', `${call.id} has a second result`)
    call.outcome = outcome
    this.#isNextGeneration = true
  }

  #segment(): { thinking: string; text: string } | undefined {
    const segments = this.#turn?.segments
    if (this.#isNextGeneration) segments?.push({ thinking: '', text: '' })
    this.#isNextGeneration = false
    return segments?.at(-1)
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

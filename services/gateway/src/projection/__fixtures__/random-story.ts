import type {
  ContentBlock,
  GenerationId,
  LogEntry,
  TextDelta,
  ToolCallId,
  TurnOutcome,
} from '@mcp-host/contracts'
import { callBlock, reasoningBlock, Story, textBlock } from './story.ts'

/** A story and its lost deltas. */
export interface RandomStory {
  readonly items: Story['items']
  readonly lost: ReadonlySet<Story['items'][number]>
  /** The text of all generations that are not void. */
  readonly text: string
  readonly thinking: string
}

/** A deterministic story of some turns with random faults. */
export function randomStory(seed: number): RandomStory {
  return new StoryGenerator(mulberry32(seed)).write()
}

class StoryGenerator {
  readonly #story = new Story()
  readonly #random: () => number
  readonly #inputs: LogEntry[] = []
  readonly #lost = new Set<Story['items'][number]>()
  /** Items that are delivered late, as by dead workers and slow networks. */
  readonly #late: (() => void)[] = []
  #text = ''
  #thinking = ''

  constructor(random: () => number) {
    this.#random = random
  }

  write(): RandomStory {
    const story = this.#story
    this.#inputs.push(story.input('first'))
    for (let turn = 0; turn < 1 + this.#upTo(3); turn++) {
      this.#inputs.push(story.input('another'))
      this.#writeTurn(this.#inputs.shift())
    }
    for (const emit of this.#late) emit()
    if (this.#chance(0.2)) story.delete()
    this.#swapStarts()
    return { items: story.items, lost: this.#lost, text: this.#text, thinking: this.#thinking }
  }

  #writeTurn(input: LogEntry | undefined): void {
    if (input === undefined) return
    if (this.#chance(0.1)) {
      this.#story.claimCancelled(input)
      this.#end('cancelled')
      return
    }
    let next = this.#story.claim(input, this.#chance(0.2) ? ['files', 'web'] : undefined)
    for (let rounds = this.#upTo(3); ; rounds--) {
      const generation = next
      const { content, isComplete } = this.#writeText(generation, rounds)
      if (!isComplete) {
        if (this.#chance(0.2)) return this.#cut(generation, content)
        next = this.#giveUp(generation, content)
        rounds++
        continue
      }
      const hasFailed = this.#chance(0.15)
      this.#story.result(generation, content, hasFailed ? 'failed' : 'completed')
      if (hasFailed && this.#chance(0.5)) {
        next = this.#story.generation(generation, 'it is overloaded')
        continue
      }
      this.#count(content)
      if (this.#chance(0.2)) this.#later(() => this.#story.result(generation, SECOND_RESULT))
      const calls = content.filter((block) => block.type === 'tool-call')
      if (hasFailed || calls.length === 0) return this.#end(hasFailed ? 'failed' : 'completed')
      this.#answer(calls.map(({ id }) => id))
      this.#meanwhile()
      if (this.#chance(0.1)) return this.#end('cancelled')
      if (this.#chance(0.2)) this.#story.compact(this.#pick(['cleared', 'summarised', 'dropped']))
      next = this.#story.generation()
    }
  }

  #end(outcome: TurnOutcome, voids?: GenerationId): void {
    const message = this.#chance(0.3) ? this.#words() : undefined
    this.#text += message ?? ''
    this.#story.done(outcome, message, voids)
  }

  /** Ends a turn before its generation, whose result may be stored just before or after. */
  #cut(generation: GenerationId, content: ContentBlock[]): void {
    const write = (): void => void this.#story.result(generation, content)
    if (this.#chance(0.3)) write()
    else if (this.#chance(0.5)) this.#later(write)
    this.#end('cancelled', generation)
  }

  /** Emits the deltas of a generation, whose worker sometimes dies before the last one. */
  #writeText(
    generation: GenerationId,
    rounds: number,
  ): { content: ContentBlock[]; isComplete: boolean } {
    const content = this.#blocks(generation, rounds)
    const deltas = this.#pieces(generation, content)
    const dies = this.#chance(0.2)
    const until = dies ? this.#upTo(deltas.length + 1) : deltas.length
    for (const [index, { offset, text, kind }] of deltas.entries()) {
      const emit = (): void => {
        this.#story.delta(generation, offset, text, kind)
        const item = this.#story.items.at(-1)
        if (item !== undefined && this.#chance(0.25)) this.#lost.add(item)
      }
      if (index < until && !this.#chance(0.1)) emit()
      else if (dies) this.#later(emit)
      // A delta of a live worker may arrive after the result of its generation.
      else this.#later(() => this.#story.delta(generation, offset, text, kind))
      this.#meanwhile()
    }
    return { content, isComplete: !dies }
  }

  #giveUp(generation: GenerationId, content: ContentBlock[]): GenerationId {
    if (this.#chance(0.5)) this.#later(() => this.#story.result(generation, content))
    return this.#story.generation(generation)
  }

  #answer(calls: readonly ToolCallId[]): void {
    for (const call of calls) {
      if (this.#chance(0.2)) this.#askApproval(call)
      this.#story.toolStarted(call)
    }
    const reversed = this.#chance(0.5) ? calls.toReversed() : calls
    for (const call of reversed) {
      this.#meanwhile()
      if (this.#chance(0.3)) this.#ask(call)
      const end = this.#pick(['refused', 'unknown', 'cancelled', 'answered'] as const)
      if (this.#chance(0.25)) this.#story.settle(call, end)
      else this.#story.toolFinished(call, 'one')
      if (this.#chance(0.3)) this.#later(() => this.#story.toolFinished(call, 'two'))
    }
  }

  /** Asks for an approval; the turn may wait for it, and continue without an answer. */
  #askApproval(call: ToolCallId): void {
    const id = `a${this.#story.items.length}`
    // The time of an entry is its sequence: some approvals expire before the call is settled.
    this.#story.askApproval(call, id, this.#pick([1, 10_000]))
    if (this.#chance(0.5)) {
      this.#story.wait()
      this.#meanwhile()
    }
    for (let answers = this.#upTo(3); answers > 0; answers--) {
      this.#story.answer(id, this.#pick(['accept', 'decline', 'cancel']))
    }
    this.#story.takeOver()
    if (this.#chance(0.3)) this.#story.settle(call, 'refused')
  }

  /** Asks for input that is answered and closed any number of times. */
  #ask(call: ToolCallId): void {
    const id = `q${this.#story.items.length}`
    this.#story.ask(call, id)
    const answer = (): void => void this.#story.answer(id, this.#chance(0.5) ? 'accept' : 'decline')
    const close = (): void =>
      void this.#story.closeQuestion(call, id, this.#chance(0.5) ? 'expired' : 'withdrawn')
    for (const emit of [answer, close, answer]) {
      this.#meanwhile()
      if (this.#chance(0.4)) emit()
      else if (this.#chance(0.3)) this.#later(emit)
    }
    if (this.#chance(0.1)) this.#story.toolStarted(call, 2)
  }

  #blocks(generation: GenerationId, rounds: number): ContentBlock[] {
    const calls = rounds > 0 ? 1 + this.#upTo(3) : 0
    return [
      ...(this.#chance(0.5) ? [reasoningBlock(this.#words())] : []),
      ...(this.#chance(0.8) ? [textBlock(this.#words())] : []),
      ...(this.#chance(0.2) ? [reasoningBlock(this.#words()), textBlock(this.#words())] : []),
      ...Array.from({ length: calls }, (_, index) => callBlock(generation, index)),
    ]
  }

  #pieces(generation: GenerationId, content: readonly ContentBlock[]): TextDelta[] {
    const deltas: TextDelta[] = []
    let offset = 0
    for (const block of content) {
      if (block.type === 'tool-call') continue
      for (let rest = block.text; rest !== '';) {
        const text = rest.slice(0, 1 + this.#upTo(8))
        deltas.push({ generation, offset, kind: block.type, text })
        offset += text.length
        rest = rest.slice(text.length)
      }
    }
    return deltas
  }

  #count(content: readonly ContentBlock[]): void {
    for (const block of content) {
      if (block.type === 'text') this.#text += block.text
      else if (block.type === 'reasoning') this.#thinking += block.text
    }
  }

  /** Emits unrelated items. */
  #meanwhile(): void {
    if (this.#chance(0.1)) this.#addInput()
    if (this.#chance(0.1)) {
      if (this.#chance(0.5)) this.#story.wait('owner')
      this.#story.takeOver()
    }
    if (this.#chance(0.1)) this.#story.cancel(this.#chance(0.2) ? undefined : this.#anyMessage())
    if (this.#chance(0.05)) {
      this.#story.unreadable(this.#pick(['input', 'control', 'turn', 'generation', 'tool']))
    }
    if (this.#chance(0.2)) this.#late.shift()?.()
  }

  /** Swaps some starts of generations with their first delta. */
  #swapStarts(): void {
    const { items } = this.#story
    for (let index = 1; index < items.length; index++) {
      const [start, delta] = items.slice(index - 1, index + 1)
      if (start?.type !== 'entry' || start.entry.kind !== 'turn' || delta?.type !== 'delta')
        continue
      if (this.#chance(0.3)) items.splice(index - 1, 2, delta, start)
    }
  }

  /** Sends a message, which may replace an earlier one. */
  #addInput(): void {
    const replaces = this.#chance(0.3) ? this.#anyMessage() : undefined
    this.#inputs.push(this.#story.input('meanwhile', undefined, replaces))
  }

  #anyMessage(): string {
    return this.#pick(
      this.#story.entries.flatMap(({ kind, fact }) => (kind === 'input' ? [fact.id] : [])),
    )
  }

  #later(emit: () => void): void {
    this.#late.push(emit)
  }

  #words(): string {
    return 'ab cde 👋 f'.repeat(1 + this.#upTo(3)) + this.#upTo(100)
  }

  #upTo(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  #pick<T>(values: readonly T[]): T {
    const [first] = values
    if (first === undefined) throw new Error('there are no values')
    return values[this.#upTo(values.length)] ?? first
  }

  #chance(probability: number): boolean {
    return this.#random() < probability
  }
}

const SECOND_RESULT = [textBlock('a second result of the same generation')]

function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

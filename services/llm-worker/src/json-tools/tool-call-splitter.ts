import { isTooDeep } from '@mcp-host/service'
import type { StreamPart } from '../model.ts'

type Piece = Extract<StreamPart, { type: 'text-delta' | 'tool-call' }>

/** Text around calls that is not shown either. */
interface Wrapping {
  readonly fence: boolean
  readonly array: boolean
}

interface Opening extends Wrapping {
  /** The length of the surrounding text. */
  readonly length: number
}

const FENCE = '```'
const OPENS = /[`[{]/
/** The key of the call that a model gives first. */
const FIRST_KEYS = ['"tool"', '"arguments"']
const NAME = /"tool"\s*:\s*"((?:[^"\\]|\\.)*)"/

/**
 * Takes calls of the form `{"tool":"…","arguments":{…}}` out of a model's text as it comes. Text is given
 * on at once as far as it cannot belong to a call; of a call, and of a code fence or an array around
 * calls, nothing is shown. A call that is no JSON has all of its text as its arguments.
 */
export class ToolCallSplitter {
  /** Text that was received and not given on. */
  #held = ''
  #state: 'text' | 'object' | 'after' = 'text'
  /** The surrounding text that is open. */
  #wrapping: Wrapping = { fence: false, array: false }
  /** The object that is being read. */
  #object = new ObjectText()
  /** The text before it. */
  #opening: Wrapping & { text: string } = { fence: false, array: false, text: '' }
  readonly #isOffered: (tool: string) => boolean

  /** `isOffered`: what names none of these tools is text. */
  constructor(isOffered: (tool: string) => boolean) {
    this.#isOffered = isOffered
  }

  push(text: string): Piece[] {
    this.#held += text
    return Array.from(this.#pieces())
  }

  /** The rest, at the end of the input. */
  end(): Piece[] {
    const rest = this.#held
    const state = this.#state
    this.#held = ''
    if (state === 'object') return [this.#whole(this.#object.text)]
    return state === 'after' ? [] : textOf(rest)
  }

  *#pieces(): Generator<Piece> {
    for (let goesOn = true; goesOn;) {
      switch (this.#state) {
        case 'text':
          goesOn = yield* this.#text()
          break
        case 'object':
          goesOn = yield* this.#readObject()
          break
        case 'after':
          goesOn = this.#unwrap()
          break
        default:
          this.#state satisfies never
      }
    }
  }

  /** Gives on text up to where a call may begin. Answers whether there is more to be read. */
  *#text(): Generator<Piece, boolean> {
    let from = 0
    for (;;) {
      const found = this.#held.slice(from).search(OPENS)
      const at = found < 0 ? this.#held.length : from + found
      const opening = found < 0 ? 'no' : findOpening(this.#held, at)
      if (opening === 'no' && found >= 0) {
        from = at + 1
        continue
      }
      yield* textOf(this.#held.slice(0, at))
      this.#held = this.#held.slice(at)
      if (typeof opening === 'string') return false
      const { fence, array, length } = opening
      this.#opening = { fence, array, text: this.#held.slice(0, length) }
      this.#object = new ObjectText()
      this.#held = this.#held.slice(length)
      this.#state = 'object'
      return true
    }
  }

  *#readObject(): Generator<Piece, boolean> {
    const rest = this.#object.take(this.#held)
    this.#held = rest ?? ''
    if (rest === undefined) return false
    const { fence, array } = this.#opening
    const piece = this.#whole(this.#object.text)
    yield piece
    const isCall = piece.type === 'tool-call'
    const open = this.#wrapping
    this.#state = isCall ? 'after' : 'text'
    this.#wrapping = isCall
      ? { fence: fence || open.fence, array: array || open.array }
      : { fence: false, array: false }
    return true
  }

  /** A call, or the text that looked like one. */
  #whole(json: string): Piece {
    const call = readCall(json)
    const isMeant = call?.type === 'tool-call' && (call.name === '' || this.#isOffered(call.name))
    return isMeant ? call : { type: 'text-delta', text: this.#opening.text + json }
  }

  /** Drops what closes the fence or array after a call, or separates it from the next one. */
  #unwrap(): boolean {
    const rest = this.#held.trimStart()
    this.#held = rest
    if (rest === '') return false
    const { fence, array } = this.#wrapping
    if (array && (rest.startsWith(',') || rest.startsWith(']'))) {
      if (rest.startsWith(']')) this.#wrapping = { fence, array: false }
      this.#held = rest.slice(1)
    } else if (fence && FENCE.startsWith(rest)) {
      // Whether it closes the one that is open shows in what follows.
      return false
    } else if (fence && /^```\s/.test(rest)) {
      this.#wrapping = { fence: false, array }
      this.#held = rest.slice(FENCE.length)
    } else {
      this.#state = 'text'
      // Only another call can stand within the same.
      if (!rest.startsWith('{')) this.#wrapping = { fence: false, array: false }
    }
    return true
  }
}

/** The beginning of a call at `at`, or `'maybe'` when more text is needed. */
function findOpening(text: string, at: number): Opening | 'maybe' | 'no' {
  let next = at
  const skip = (pattern: RegExp): void => {
    pattern.lastIndex = next
    next += pattern.exec(text)?.[0].length ?? 0
  }
  /** Reads one of these words; `undefined` when it can still become one. */
  const take = (...words: string[]): boolean | undefined => {
    const word = words.find((each) => text.startsWith(each, next))
    if (word !== undefined) {
      next += word.length
      skip(/\s*/y)
      return true
    }
    const rest = text.slice(next)
    return words.some((each) => each.startsWith(rest)) ? undefined : false
  }
  let fence = false
  if (text[next] === '`') {
    if (!text.startsWith(FENCE, next)) return FENCE.startsWith(text.slice(next)) ? 'maybe' : 'no'
    next += FENCE.length
    // Its language stands in the same line.
    skip(/[A-Za-z_]{0,20}\s*/y)
    fence = true
  }
  const array = take('[') ?? false
  const length = next - at
  for (const words of [['{'], FIRST_KEYS, [':']]) {
    const isThere = take(...words)
    if (isThere !== true) return isThere === undefined ? 'maybe' : 'no'
  }
  return { fence, array, length }
}

/** The text of a JSON object that comes in pieces, each of which is looked at once. */
class ObjectText {
  readonly #pieces: string[] = []
  #depth = 0
  #isString = false
  #isEscaped = false

  get text(): string {
    return this.#pieces.join('')
  }

  /** Takes in what belongs to it. Returns the text after its last bracket, once that has arrived. */
  take(text: string): string | undefined {
    for (let at = 0; at < text.length; at++) {
      if (!this.#isLast(text[at])) continue
      this.#pieces.push(text.slice(0, at + 1))
      return text.slice(at + 1)
    }
    this.#pieces.push(text)
    return undefined
  }

  #isLast(char: string | undefined): boolean {
    if (this.#isEscaped) this.#isEscaped = false
    else if (this.#isString && char === '\\') this.#isEscaped = true
    else if (char === '"') this.#isString = !this.#isString
    else if (this.#isString) return false
    else if (char === '{' || char === '[') this.#depth++
    else if (char === '}' || char === ']') return --this.#depth === 0
    return false
  }
}

/** `undefined` when it is JSON but no call. */
function readCall(json: string): Piece | undefined {
  let value: { tool?: unknown; arguments?: unknown }
  try {
    // An object: it begins with a bracket of one.
    value = JSON.parse(json) as typeof value
  } catch {
    return faultyCall(json)
  }
  const { tool, arguments: args = {} } = value
  if (typeof tool !== 'string') return undefined
  // `JSON.stringify` would overflow the stack.
  if (isTooDeep(args)) return faultyCall(json)
  const text = typeof args === 'string' ? args : JSON.stringify(args)
  return { type: 'tool-call', name: tool, arguments: text }
}

/** Unreadable JSON becomes a call with faulty arguments, which the model is told. */
function faultyCall(text: string): Piece {
  return { type: 'tool-call', name: NAME.exec(text)?.[1] ?? '', arguments: text }
}

function textOf(text: string): Piece[] {
  return text === '' ? [] : [{ type: 'text-delta', text }]
}

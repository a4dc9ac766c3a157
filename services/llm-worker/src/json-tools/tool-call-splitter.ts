import { isTooDeep } from '@mcp-host/json'
import type { StreamPart } from '../model.ts'
import { ObjectText } from './object-text.ts'

type Piece = Extract<StreamPart, { type: 'text-delta' | 'tool-call' }>

/** Text around calls that is removed, too. */
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
/** The possible first keys of a call. */
const FIRST_KEYS = ['"tool"', '"arguments"']
const NAME = /"tool"\s*:\s*"((?:[^"\\]|\\.)*)"/

/**
 * Splits the streamed text of a model into text and calls of the form `{"tool":"…","arguments":{…}}`. Text that cannot
 * belong to a call is emitted at once. Calls, and the code fence or array around them, are removed from the text. A
 * call that is not valid JSON has its whole text as arguments.
 */
export class ToolCallSplitter {
  /** Text that was received and is not processed yet. */
  #pending = ''
  #state: 'text' | 'object' | 'after' = 'text'
  /** The surrounding text that is open. */
  #wrapping: Wrapping = { fence: false, array: false }
  /** The object that is being read. */
  #object = new ObjectText()
  /** The text before the object. */
  #opening: Wrapping & { text: string } = { fence: false, array: false, text: '' }
  readonly #isOffered: (tool: string) => boolean

  /** `isOffered`: whether a tool was offered to the model. An object that names another tool is text. */
  constructor(isOffered: (tool: string) => boolean) {
    this.#isOffered = isOffered
  }

  push(text: string): Piece[] {
    this.#pending += text
    return Array.from(this.#pieces())
  }

  /** Ends the input, and returns the remaining pieces. */
  end(): Piece[] {
    const rest = this.#pending
    const state = this.#state
    this.#pending = ''
    if (state === 'object') return [this.#whole(this.#object.text)]
    return state === 'after' ? [] : textOf(rest)
  }

  *#pieces(): Generator<Piece> {
    for (let hasMore = true; hasMore;) {
      switch (this.#state) {
        case 'text':
          hasMore = yield* this.#text()
          break
        case 'object':
          hasMore = yield* this.#readObject()
          break
        case 'after':
          hasMore = this.#unwrap()
          break
        default:
          this.#state satisfies never
      }
    }
  }

  /** Emits text up to the place where a call may begin. Returns whether more can be read without further input. */
  *#text(): Generator<Piece, boolean> {
    let from = 0
    for (;;) {
      const found = this.#pending.slice(from).search(OPENS)
      const at = found < 0 ? this.#pending.length : from + found
      const opening = found < 0 ? 'no' : findOpening(this.#pending, at)
      if (opening === 'no' && found >= 0) {
        from = at + 1
        continue
      }
      yield* textOf(this.#pending.slice(0, at))
      this.#pending = this.#pending.slice(at)
      if (typeof opening === 'string') return false
      const { fence, array, length } = opening
      this.#opening = { fence, array, text: this.#pending.slice(0, length) }
      this.#object = new ObjectText()
      this.#pending = this.#pending.slice(length)
      this.#state = 'object'
      return true
    }
  }

  *#readObject(): Generator<Piece, boolean> {
    const rest = this.#object.take(this.#pending)
    this.#pending = rest ?? ''
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

  /** Drops the end of a fence or array after a call, and the comma before the next call. Returns as `#text`. */
  #unwrap(): boolean {
    const rest = this.#pending.trimStart()
    this.#pending = rest
    if (rest === '') return false
    const { fence, array } = this.#wrapping
    if (array && (rest.startsWith(',') || rest.startsWith(']'))) {
      if (rest.startsWith(']')) this.#wrapping = { fence, array: false }
      this.#pending = rest.slice(1)
    } else if (fence && FENCE.startsWith(rest)) {
      // The next character decides whether these backticks close the open fence.
      return false
    } else if (fence && /^```\s/.test(rest)) {
      this.#wrapping = { fence: false, array }
      this.#pending = rest.slice(FENCE.length)
    } else {
      this.#state = 'text'
      // An array or fence goes on only with another call.
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
  /** Reads one of the words; `undefined` when more text may complete one. */
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
    // The name of the language follows in the same line.
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

/** Parses a call; `undefined` for JSON that is not a call. */
function readCall(json: string): Piece | undefined {
  let value: { tool?: unknown; arguments?: unknown }
  try {
    // The text begins with a brace, so the JSON is an object.
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

/** Turns invalid JSON into a call with invalid arguments, so that the model gets an error for it. */
function faultyCall(text: string): Piece {
  return { type: 'tool-call', name: NAME.exec(text)?.[1] ?? '', arguments: text }
}

function textOf(text: string): Piece[] {
  return text === '' ? [] : [{ type: 'text-delta', text }]
}

import type { Json } from './eras.ts'
import { isObject } from './eras.ts'
import type { Answer } from './pass-request.ts'

/** Questions that a server asks at once come one after another. */
const TOGETHER_MS = 10

interface Asked {
  readonly method: string
  readonly params: unknown
}

/**
 * A request that goes on at its server while its caller comes back, once or more often, with what the server
 * asked for.
 */
export class HeldRequest {
  readonly #process: string
  readonly #subject: unknown
  readonly #limitMs: number
  readonly #open = new Map<string, Asked & { readonly answer: (result: object) => void }>()
  /** Unguessable and new in each round: who knows it goes on with the request. */
  #state: string | undefined
  #ended: Promise<Answer> | undefined
  #end: () => void = () => undefined
  #asked = Promise.withResolvers<void>()
  #late: NodeJS.Timeout | undefined

  /** Its caller may take `limitMs` to come back. `process`: where it runs. */
  constructor(process: string, params: Json, limitMs: number) {
    this.#process = process
    this.#subject = subjectOf(params)
    this.#limitMs = limitMs
  }

  /** `ended`: its end at the server; `end` brings it about. */
  begin(ended: Promise<Answer>, end: () => void): void {
    this.#ended = ended
    this.#end = end
  }

  /** Whether it is the caller's turn. */
  get isWaiting(): boolean {
    return this.#late !== undefined
  }

  /** Whether a caller comes back to it: with its state, and about the same thing. */
  isMeant(state: string, params: Json): boolean {
    return state === this.#state && subjectOf(params) === this.#subject
  }

  ask(asked: Asked, answer: (result: object) => void): void {
    const name = nameOf(asked)
    let key = name
    for (let count = 2; this.#open.has(key); count++) key = `${name}-${count}`
    this.#open.set(key, { ...asked, answer })
    this.#asked.resolve()
  }

  /** Takes what the caller came back with; what it left out is asked again. */
  answer(responses: unknown): void {
    clearTimeout(this.#late)
    this.#late = undefined
    for (const [key, { answer }] of this.#open) {
      const result = isObject(responses) ? responses[key] : undefined
      if (!isObject(result)) continue
      this.#open.delete(key)
      answer(result)
    }
    if (this.#open.size === 0) this.#asked = Promise.withResolvers()
  }

  /** The end of the request, or what its server asks the caller for before that. */
  async round(): Promise<Answer> {
    const ended = this.#ended ?? Promise.reject(new Error('it has not begun'))
    const first = await Promise.race([ended, this.#asked.promise])
    if (first !== undefined) return first
    await this.#allAsked()
    this.#late = setTimeout(this.#end, this.#limitMs).unref()
    this.#state = crypto.randomUUID()
    const inputRequests = Object.fromEntries(
      Array.from(this.#open, ([key, { method, params }]) => [
        key,
        { method, ...(isObject(params) ? { params } : {}) },
      ]),
    )
    const requestState = `mcp-host.${this.#process}.${this.#state}`
    const result = { resultType: 'input_required', inputRequests, requestState }
    return { head: { type: 'result' }, body: JSON.stringify(result) }
  }

  /** What the server asks at once is asked together: until it is silent for a moment. */
  async #allAsked(): Promise<void> {
    for (let before = 0; before < this.#open.size;) {
      before = this.#open.size
      await new Promise((resolve) => void setTimeout(resolve, TOGETHER_MS))
    }
  }
}

/** A form with one field is known by that; the rest by what is asked. */
function nameOf({ method, params }: Asked): string {
  const schema = isObject(params) ? params['requestedSchema'] : undefined
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {}
  const [only, ...others] = Object.keys(properties)
  if (only !== undefined && others.length === 0) return only
  return method.split('/')[0] ?? method
}

function subjectOf(params: Json): unknown {
  return params['name'] ?? params['uri']
}

/** The part of a caller's state that names a held request; `undefined`: it is not of ours. */
export function heldIn(requestState: unknown): string | undefined {
  if (typeof requestState !== 'string') return undefined
  return /^mcp-host\.[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)$/.exec(requestState)?.[1]
}

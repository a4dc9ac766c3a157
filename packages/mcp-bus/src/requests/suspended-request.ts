import { ownValue } from '@mcp-host/contracts'
import type { Json } from './eras.ts'
import { isObject } from '@mcp-host/json'
import type { McpReply } from './serve-request.ts'

/** The time in which concurrent questions of a server arrive one after another. */
const TOGETHER_MS = 10

interface Asked {
  readonly method: string
  readonly params: unknown
}

/** One question to the caller, open until disposed. */
export interface SuspendedQuestion extends Disposable {
  onAnswer: (result: object) => void
}

/** A request that continues at its server while its caller retries with the requested input, once or several times. */
export class SuspendedRequest {
  readonly #process: string
  readonly #principal: string
  readonly #subject: unknown
  readonly #limitMs: number
  readonly #open = new Map<string, Asked & { readonly question: SuspendedQuestion }>()
  /** The `requestState` that the caller must send back: unguessable, valid once. */
  #requestState: string | undefined
  #ended: Promise<McpReply> | undefined
  #answer: McpReply | undefined
  #end: () => void = () => undefined
  #asked = Promise.withResolvers<void>()
  #late: NodeJS.Timeout | undefined

  /** `limitMs`: the time limit for a retry. `process`, `principal`: of the request. */
  constructor(
    { params, process, principal }: { params: Json; process: string; principal: string },
    limitMs: number,
  ) {
    this.#process = process
    this.#principal = principal
    this.#subject = subjectOf(params)
    this.#limitMs = limitMs
  }

  /** `ended`: the end of the request at the server. `end`: ends it when its caller does not retry. */
  begin(ended: Promise<McpReply>, end: () => void): void {
    this.#ended = ended
    this.#end = end
    void ended.then((answer) => {
      this.#answer = answer
    })
  }

  /** Whether the request waits for its caller. */
  get isWaiting(): boolean {
    return this.#late !== undefined
  }

  /** Whether a request resumes this one: it has the same state, principal and subject. */
  isMeant(params: Json, principal: string): boolean {
    const { requestState } = params
    if (requestState === undefined || requestState !== this.#requestState) return false
    return principal === this.#principal && subjectOf(params) === this.#subject
  }

  ask(asked: Asked): SuspendedQuestion {
    const name = nameOf(asked)
    let key = name
    for (let count = 2; this.#open.has(key); count++) key = `${name}-${count}`
    const question: SuspendedQuestion = {
      onAnswer: () => undefined,
      [Symbol.dispose]: () => void this.#open.delete(key),
    }
    this.#open.set(key, { ...asked, question })
    this.#asked.resolve()
    return question
  }

  /** Takes the caller's answers; unanswered questions are asked again. */
  answer(responses: unknown): void {
    clearTimeout(this.#late)
    this.#late = undefined
    this.#requestState = undefined
    for (const [key, { question }] of this.#open) {
      const result = isObject(responses) ? ownValue(responses, key) : undefined
      if (!isObject(result)) continue
      this.#open.delete(key)
      question.onAnswer(result)
    }
  }

  /** Resolves with the answer of the request, or with the questions that its server asks before. */
  async round(): Promise<McpReply> {
    const ended = this.#ended ?? Promise.reject(new Error('it has not begun'))
    for (;;) {
      // Questions may have been answered or withdrawn.
      if (this.#open.size === 0) this.#asked = Promise.withResolvers()
      await Promise.race([ended, this.#asked.promise])
      await this.#allAsked()
      if (this.#answer !== undefined) return this.#answer
      if (this.#open.size > 0) return this.#question()
    }
  }

  #question(): McpReply {
    this.#late = setTimeout(this.#end, this.#limitMs).unref()
    const requestState = `mcp-host.${this.#process}.${crypto.randomUUID()}`
    this.#requestState = requestState
    const inputRequests = Object.fromEntries(
      Array.from(this.#open, ([key, { method, params }]) => [
        key,
        { method, ...(isObject(params) ? { params } : {}) },
      ]),
    )
    const result = { resultType: 'input_required', inputRequests, requestState }
    return { head: { type: 'result' }, body: JSON.stringify(result) }
  }

  /** Waits until the server has asked no question for a moment, so that one round has all of them. */
  async #allAsked(): Promise<void> {
    for (let before = 0; before < this.#open.size;) {
      before = this.#open.size
      await new Promise((resolve) => void setTimeout(resolve, TOGETHER_MS))
    }
  }
}

/** The name of a question. A form with one field is named by the field, other questions by their content. */
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

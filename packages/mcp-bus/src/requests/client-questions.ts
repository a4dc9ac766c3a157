import { JsonRpcCode } from '@mcp-host/mcp'
import type { McpReplyHead } from '@mcp-host/contracts'
import type { ClientAnswer } from '../subjects.ts'
import { isObject } from '@mcp-host/json'

/** Sends a reply before the last one. */
export type SendPart = (part: McpReplyHead, body: string) => void

/** An error of a client, or of the host on its behalf. The server gets it unchanged. */
export class ClientRefusal extends Error {
  override readonly name = 'ClientRefusal'
  readonly code: number
  readonly data: unknown

  constructor({ code, message, data }: NonNullable<ClientAnswer['error']>) {
    super(message)
    this.code = code
    this.data = data
  }
}

export interface AskOptions {
  /** The session that is asked; undefined for a caller without one. */
  readonly client?: string | undefined
  /** The abort of this signal withdraws the question. */
  readonly signal: AbortSignal
  /** The time limit for the client's answer. */
  readonly limitMs?: number
}

interface OpenQuestion {
  readonly client: string | undefined
  readonly take: (answer: ClientAnswer) => void
}

/** Questions to clients that are waiting for answers. */
export class ClientQuestions {
  readonly #server: string
  readonly #open = new Map<string, OpenQuestion>()

  constructor(server: string) {
    this.#server = server
  }

  /** Sends a question and waits for its answer. Throws `ClientRefusal`, a time-out error, or the signal's reason. */
  async ask(
    send: (ask: string) => void,
    { client, signal, limitMs }: AskOptions,
  ): Promise<unknown> {
    // The id is unguessable. It begins with the server, for routing.
    const ask = `${this.#server}.${crypto.randomUUID()}`
    const answered = Promise.withResolvers<ClientAnswer>()
    const onAbort = (): void => answered.reject(signal.reason)
    const tooLate = (): void => {
      const message = 'the client did not answer in time'
      answered.reject(new ClientRefusal({ code: JsonRpcCode.timedOut, message }))
    }
    const late = limitMs === undefined ? undefined : setTimeout(tooLate, limitMs)
    this.#open.set(ask, { client, take: answered.resolve })
    signal.addEventListener('abort', onAbort)
    try {
      if (signal.aborted) onAbort()
      else send(ask)
      const { result, error } = await answered.promise
      if (error !== undefined) throw new ClientRefusal(error)
      return result
    } finally {
      clearTimeout(late)
      signal.removeEventListener('abort', onAbort)
      this.#open.delete(ask)
    }
  }

  /** Takes an answer; one with an unknown id, or from another session than the one that was asked, is ignored. */
  answer(ask: string, client: string | undefined, answer: ClientAnswer): void {
    const question = this.#open.get(ask)
    // Older gateways name no session.
    if (client === undefined || question?.client === client) question?.take(answer)
  }
}

/** Throws `ClientRefusal` when a client cannot be asked by a method. */
export function checkCapability(capabilities: object, method: string, params: unknown): void {
  if (canBeAsked(capabilities, method, params)) return
  throw new ClientRefusal(refused(method))
}

/** The JSON-RPC error of a client that does not support a method. */
export function refused(method: string): NonNullable<ClientAnswer['error']> {
  return { code: JsonRpcCode.methodNotFound, message: `the client does not take ${method}` }
}

/** Whether a client with these capabilities takes a request of a method. */
export function canBeAsked(capabilities: object, method: string, params: unknown): boolean {
  const { sampling, elicitation, roots } = capabilities as Readonly<Record<string, unknown>>
  if (method === 'sampling/createMessage') return isObject(sampling)
  if (method === 'roots/list') return isObject(roots)
  if (method !== 'elicitation/create' || !isObject(elicitation)) return false
  const isPage = isObject(params) && params['mode'] === 'url'
  // A client that declares no modes supports only forms.
  const hasModes = 'form' in elicitation || 'url' in elicitation
  return isPage ? isObject(elicitation['url']) : !hasModes || isObject(elicitation['form'])
}

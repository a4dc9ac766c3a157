import { z } from 'zod'

const Session = z.object({
  id: z.string(),
  title: z.string(),
  messages: z.number(),
  updatedAt: z.number(),
  model: z.string().optional(),
})
export type Session = z.infer<typeof Session>

const Message = z.object({
  id: z.string(),
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  content: z.string().optional(),
  data: z
    .object({
      arguments: z.json(),
      outcome: z.string().optional(),
      durationMs: z.number().optional(),
    })
    .optional(),
  toolName: z.string().optional(),
  metadata: z.object({ messageId: z.string(), state: z.string().optional() }),
})
export type Message = z.infer<typeof Message>

const Models = z.object({
  default: z.object({ provider: z.string(), model: z.string() }).optional(),
  providers: z.array(
    z.object({
      provider: z.string(),
      error: z.string().optional(),
      models: z.array(z.object({ id: z.string() })),
    }),
  ),
})
export type Models = z.infer<typeof Models>

const Failure = z.object({ error: z.object({ code: z.string(), message: z.string() }) })

/** The gateway refused a request; says why in words for a user. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The HTTP API of a gateway, as far as the terminal chat needs it. Throws `RefusedError`. */
export class ChatApi {
  readonly #url: string

  /** `url`: of the gateway. */
  constructor(url: string) {
    this.#url = url
  }

  session(id: string): Promise<Session> {
    return this.#request(Session, `session/${encodeURIComponent(id)}`)
  }

  async sessions(limit: number): Promise<readonly Session[]> {
    const Page = z.object({ sessions: z.array(Session) })
    return (await this.#request(Page, `sessions?limit=${limit}`)).sessions
  }

  /** The newest turns of a session, the oldest of them first. */
  async history(id: string, turns: number): Promise<readonly Message[]> {
    const Page = z.object({ messages: z.array(Message) })
    const path = `session/${encodeURIComponent(id)}/messages?limit=${turns}`
    return (await this.#request(Page, path)).messages
  }

  models(): Promise<Models> {
    return this.#request(Models, 'models')
  }

  /** `null`: the model that answers by default. */
  setModel(id: string, model: string | null): Promise<Session> {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'PATCH', headers, body: JSON.stringify({ model }) }
    return this.#request(Session, `session/${encodeURIComponent(id)}`, init)
  }

  /** Stores a file; answers with its key. */
  async upload(id: string, name: string, type: string, body: Uint8Array): Promise<string> {
    const path = `session/${encodeURIComponent(id)}/file?name=${encodeURIComponent(name)}`
    const init = { method: 'POST', headers: { 'content-type': type }, body: new Blob([body]) }
    return (await this.#request(z.object({ key: z.string() }), path, init)).key
  }

  async #request<T>(schema: z.ZodType<T>, path: string, init: RequestInit = {}): Promise<T> {
    const response = await fetch(new URL(`/api/chat/${path}`, this.#url), init).catch(
      (error: unknown) => {
        throw new RefusedError('unavailable', `no gateway answers at ${this.#url}`, {
          cause: error,
        })
      },
    )
    const body: unknown = await response.json()
    if (response.ok) return schema.parse(body)
    const { code, message } = Failure.parse(body).error
    throw new RefusedError(code, message)
  }
}

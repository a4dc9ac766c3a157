import { HostError } from '../host-error.ts'

/** A gateway, and how a client authenticates there. */
export interface HostAddress {
  /** Base URL of a gateway, as `https://mcp.example.com`. */
  readonly url: string
  /** Headers by which the client authenticates. Not needed where it does not, and for the cookie of a browser's login. */
  readonly headers?: (() => Readonly<Record<string, string>>) | undefined
}

export interface JsonRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, with its type. */
  readonly blob?: Blob
  readonly signal?: AbortSignal | undefined
}

/** The JSON of an answer; `undefined` for an empty one. Throws `HostError`. */
export async function requestJson(
  address: HostAddress,
  path: string,
  options: JsonRequest = {},
): Promise<unknown> {
  const response = await request(address, path, options)
  const text = await response.text()
  return text === '' ? undefined : parse(text, response.status)
}

/** A successful answer, whose body may be a stream. Throws `HostError`. */
export async function request(
  { url, headers }: HostAddress,
  path: string,
  { method = 'GET', body, blob, signal }: JsonRequest = {},
): Promise<Response> {
  const type = blob?.type ?? (body === undefined ? undefined : 'application/json')
  const response = await fetch(new URL(path, url), {
    method,
    headers: { ...headers?.(), ...(type === undefined ? {} : { 'content-type': type }) },
    body: blob ?? (body === undefined ? null : JSON.stringify(body)),
    signal: signal ?? null,
  }).catch((error: unknown) => {
    throw new HostError('unavailable', `no gateway answers at ${url}`, { cause: error })
  })
  if (response.ok) return response
  const text = await response.text()
  const { status } = response
  // Every error of a gateway has this shape; a proxy before it may send other texts.
  const { error } = (parse(text, status) ?? {}) as {
    readonly error?: {
      readonly code: string
      readonly message: string
      readonly reason?: string
      readonly field?: string
      readonly approval?: { readonly id: string }
    }
  }
  if (error === undefined) {
    throw new HostError('internal', `the answer is ${status}`, { status, isForeign: true })
  }
  throw new HostError(error.code, error.message, {
    status,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.reason === undefined ? {} : { reason: error.reason }),
    ...(error.approval === undefined ? {} : { approval: error.approval.id }),
  })
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = `the answer is no JSON; its status is ${status}`
    throw new HostError('unavailable', message, { status, isForeign: true, cause: error })
  }
}

import { JsonRpcCode } from '@mcp-host/mcp'

/** A message of an app: a request has an id and a method, a notice a method alone, an answer an id alone. */
export interface AppMessage {
  readonly id?: string | number
  readonly method?: string
  readonly params: Readonly<Record<string, unknown>>
}

/** The error of a refused request, with its code of JSON-RPC. */
export class AppFault extends Error {
  override readonly name = 'AppFault'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Reads a message; `undefined` for anything else than a message of JSON-RPC. */
export function readMessage(text: string): AppMessage | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Messages that are not JSON get no answer.
    return undefined
  }
  const { jsonrpc, id, method, params = {} } = Object(value) as Readonly<Record<string, unknown>>
  const isWhole =
    jsonrpc === '2.0' &&
    (id === undefined || typeof id === 'number' || (typeof id === 'string' && id.length <= 100)) &&
    (method === undefined || typeof method === 'string') &&
    typeof params === 'object' &&
    params !== null
  if (!isWhole) return undefined
  return {
    params: params as AppMessage['params'],
    ...(id === undefined ? {} : { id }),
    ...(method === undefined ? {} : { method }),
  }
}

/** A text of the parameters. Throws `AppFault`. */
export function textIn(params: AppMessage['params'], field: string, maxLength: number): string {
  const text = params[field]
  if (typeof text === 'string' && text !== '' && text.length <= maxLength) return text
  const message = `${field}: must be a text of 1 to ${maxLength} characters`
  throw new AppFault(JsonRpcCode.invalidParams, message)
}

import { MetaKey } from '@mcp-host/mcp'

export type RpcId = string | number

export type Params = Readonly<Record<string, unknown>>

/** One line of a client, with the fields that are needed to forward it. */
export interface Message {
  readonly line: Buffer
  /** Ids of the requests in the message. Each needs one answer. */
  readonly ids: readonly RpcId[]
  /** Absent in an answer, and in a batch. */
  readonly method: string | undefined
  readonly params: Params
  /** The revision that the message declares, as every message does from 2026-07-28 on. */
  readonly version: string | undefined
}

/** Parses a line; `undefined` when it is not JSON. */
export function readMessage(line: Buffer): Message | undefined {
  let content: unknown
  try {
    content = JSON.parse(line.toString())
  } catch {
    return undefined
  }
  if (Array.isArray(content)) {
    const ids = content.flatMap((each: unknown) => idsOf(each))
    return { line, ids, method: undefined, params: {}, version: undefined }
  }
  const { method, params } = isObject(content) ? content : {}
  const given = isObject(params) ? params : {}
  const version = isObject(given['_meta']) ? given['_meta'][MetaKey.protocolVersion] : undefined
  return {
    line,
    ids: idsOf(content),
    method: typeof method === 'string' ? method : undefined,
    params: given,
    version: typeof version === 'string' ? version : undefined,
  }
}

/** Ids of the requests that a message or batch answers. */
export function answeredIds(text: string): RpcId[] {
  try {
    const content: unknown = JSON.parse(text)
    const messages: readonly unknown[] = Array.isArray(content) ? content : [content]
    return messages.flatMap((each) =>
      isObject(each) && !('method' in each) && isId(each['id']) ? [each['id']] : [],
    )
  } catch {
    // The text is not JSON, which its reader reports.
    return []
  }
}

function idsOf(content: unknown): RpcId[] {
  if (!isObject(content) || typeof content['method'] !== 'string') return []
  return isId(content['id']) ? [content['id']] : []
}

export function isId(id: unknown): id is RpcId {
  return typeof id === 'string' || typeof id === 'number'
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

import * as z from 'zod'

import type { Connection } from '../connection/connection.ts'
import { RpcError } from '../connection/rpc.ts'
import type { Logger } from '../logger.ts'

/** A list that goes on longer than this does not end. */
const MAX_PAGES = 1000
const METHOD_NOT_FOUND = -32_601

const Page = z.looseObject({ nextCursor: z.string().optional() })

export interface ListAllOptions<Item> {
  readonly method: string
  /** Where the items stand in the answer, as `tools`. */
  readonly field: string
  readonly schema: z.ZodType<Item>
  /** By which items are told apart. */
  readonly keyOf: (item: Item) => string
  /** Why an item must be left out; undefined when it may stay. */
  readonly refuse?: (item: Item) => string | undefined
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/**
 * All items of one of a server's lists, over all pages. A description that is not one, or has a
 * name already taken, is left out with a warning: it must not cost the server its other items.
 */
export async function listAll<Item>(
  connection: Connection,
  logger: Logger,
  options: ListAllOptions<Item>,
): Promise<ReadonlyMap<string, Item>> {
  const { method, field, schema, keyOf, refuse, signal, timeoutMs } = options
  const items = new Map<string, Item>()
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const answer = await connection.request(method, params, { signal, timeoutMs }).catch(asEmpty)
    const { [field]: listed, nextCursor } = Page.parse(answer)
    for (const item of Array.isArray(listed) ? listed : []) {
      const parsed = schema.safeParse(item)
      if (!parsed.success) {
        logger.warn(
          { list: field, issues: parsed.error.issues },
          'left out: its description is faulty',
        )
        continue
      }
      const key = keyOf(parsed.data)
      const reason = items.has(key) ? 'its name is taken' : refuse?.(parsed.data)
      if (reason === undefined) items.set(key, parsed.data)
      else logger.warn({ list: field, item: key, reason }, `left out: ${reason}`)
    }
    cursor = nextCursor
    if (cursor === undefined) return items
  }
  throw new Error(`the list of ${field} has more than ${MAX_PAGES} pages`)
}

/** Servers announce all that concerns resources at once, and some have no templates. */
function asEmpty(error: unknown): object {
  if (error instanceof RpcError && error.code === METHOD_NOT_FOUND) return {}
  throw error
}

import * as z from 'zod'

import type { Connection } from '../connection/connection.ts'
import { RpcError } from '../connection/rpc.ts'
import type { Logger } from '../logger.ts'
import { type ListCaching, strictest } from './list-caching.ts'

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

export interface Listing<Item> {
  readonly items: ReadonlyMap<string, Item>
  readonly caching: ListCaching
}

/**
 * All items of one of a server's lists, over all pages. A description that is not one, or has a
 * name already taken, is left out with a warning: it must not cost the server its other items.
 */
export async function listAll<Item>(
  connection: Connection,
  logger: Logger,
  options: ListAllOptions<Item>,
): Promise<Listing<Item>> {
  const { method, field, schema, keyOf, refuse, signal, timeoutMs } = options
  const listedAt = Date.now()
  const items = new Map<string, Item>()
  const pages: object[] = []
  let cursor: string | undefined
  while (pages.length < MAX_PAGES) {
    const params = cursor === undefined ? {} : { cursor }
    const answer = await connection.request(method, params, { signal, timeoutMs }).catch(asEmpty)
    const page = Page.parse(answer)
    const { [field]: listed, nextCursor } = page
    pages.push(page)
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
    if (cursor === undefined) return { items, caching: strictest(pages, listedAt) }
  }
  throw new Error(`the list of ${field} has more than ${MAX_PAGES} pages`)
}

/** Servers announce all that concerns resources at once, and some have no templates. */
function asEmpty(error: unknown): object {
  if (error instanceof RpcError && error.code === METHOD_NOT_FOUND) return {}
  throw error
}

import { JsonRpcCode } from '@mcp-host/mcp'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'

import * as z from 'zod'

import type { ProtocolClient } from '../connection/protocol-client.ts'
import { RpcError } from '../errors/rpc-error.ts'
import type { Logger } from '@mcp-host/process'
import { nameFault, shownName } from './item-name.ts'
import { cachingOf, type ListCaching, strictest } from './list-caching.ts'
import { type ListBudget, weigh } from './list-budget.ts'
import { readItem } from './read-item.ts'
import { isObject } from '@mcp-host/json'

/** Limit for the pages of a list; more count as endless. */
const MAX_PAGES = 1000
/** Limit for the length of a cursor, since all cursors are held while a list is read. */
const MAX_CURSOR_LENGTH = 64 * 1024
/** The number of items between two yields to the event loop. */
const SLICE_ITEMS = 50
/** After these bytes there is a pause before each page, in proportion to the last one. */
const FAST_BYTES = 1024 * 1024
const PAUSE_BYTES_PER_MS = 10 * 1024
/** Warnings about single items of one list. */
const MAX_WARNINGS = 20

const Page = z.looseObject({})

export interface ListAllOptions<Item> {
  readonly method: string
  /** The field of the result that has the items, such as `tools`. */
  readonly field: string
  readonly schema: z.ZodType<Item>
  /** Corrects items before the schema is applied. */
  readonly prepare?: (raw: Readonly<Record<string, unknown>>) => object
  readonly keyOf: (item: Item) => string
  /** The reason to leave out an item, if there is one. */
  readonly refuse?: (item: Item) => string | undefined
  /** Shared by the lists of one server. */
  readonly budget: ListBudget
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

export interface Listing<Item> {
  readonly items: ReadonlyMap<string, Item>
  readonly caching: ListCaching
}

/**
 * All items of a list, from all pages. A faulty item, or one with the name of another, is left out with a warning. Pages
 * that repeat, do not end or exceed the budget end the list with a warning.
 */
export async function listAll<Item>(
  connection: ProtocolClient,
  logger: Logger,
  options: ListAllOptions<Item>,
): Promise<Listing<Item>> {
  const { method, field, signal, timeoutMs, budget } = options
  const listedAt = Date.now()
  const items = new Map<string, Item>()
  const warnings = new Warnings(logger, field)
  let caching: ListCaching | undefined
  const cursors = new Set<unknown>()
  let bytes = 0
  budget.begin(field)
  for (let cursor: unknown; ;) {
    const params = cursor === undefined ? {} : { cursor }
    const answer = await connection.request(method, params, { signal, timeoutMs }).catch(asEmpty)
    const page = Page.parse(answer)
    const bytesBefore = bytes
    const hint = cachingOf(page, listedAt)
    caching = caching === undefined ? hint : strictest(caching, hint)
    const listed: readonly unknown[] = Array.isArray(page[field]) ? page[field] : []
    let excess: string | undefined
    for (let index = 0; excess === undefined && index < listed.length; index += 1) {
      const raw = listed[index]
      const weight = weigh(raw)
      bytes += weight
      excess = budget.add(field, weight)
      if (excess === undefined) addItem(items, raw, index, { warnings, ...options })
      if (index % SLICE_ITEMS === SLICE_ITEMS - 1) await nextTurn()
    }
    cursor = page['nextCursor']
    // Some servers end the list with null or an empty cursor.
    const isLast = cursor === undefined || cursor === null || cursor === ''
    const fault = excess ?? (isLast ? undefined : cursorFault(cursor, cursors))
    if (fault !== undefined) logger.warn({ list: field, reason: fault }, `the list ends: ${fault}`)
    if (isLast || fault !== undefined) {
      warnings.end()
      return { items, caching }
    }
    cursors.add(cursor)
    if (bytes > FAST_BYTES) await delay((bytes - bytesBefore) / PAUSE_BYTES_PER_MS)
  }
}

/** The reason not to request the page of a cursor, if there is one. */
function cursorFault(cursor: unknown, before: ReadonlySet<unknown>): string | undefined {
  if (typeof cursor !== 'string') return 'its next cursor is not a string'
  if (cursor.length > MAX_CURSOR_LENGTH) return 'its next cursor is too long'
  if (before.has(cursor)) return 'its next cursor was there before'
  return before.size < MAX_PAGES - 1 ? undefined : `it has more than ${MAX_PAGES} pages`
}

function addItem<Item>(
  items: Map<string, Item>,
  raw: unknown,
  index: number,
  { warnings, ...options }: ListAllOptions<Item> & { readonly warnings: Warnings },
): void {
  const { schema, prepare, keyOf, refuse } = options
  const read = readItem(schema, isObject(raw) ? (prepare?.(raw) ?? raw) : raw)
  if (read.kind === 'unreadable') {
    const name = nameOf(raw)
    const item = name === undefined ? `#${index + 1}` : shownName(name)
    const { faults } = read
    warnings.add({ item, faults }, `left out: the description of "${item}" is faulty`)
    return
  }
  const { item, dropped } = read
  const key = keyOf(item)
  const shown = shownName(key)
  const reason =
    nameFault(key) ?? (items.has(key) ? 'its name is taken' : undefined) ?? refuse?.(item)
  if (reason !== undefined) {
    warnings.add({ item: shown, reason }, `left out "${shown}": ${reason}`)
    return
  }
  if (dropped.length > 0) {
    const message = `the description of "${shown}" is faulty: parts of it are left out`
    warnings.add({ item: shown, dropped }, message)
  }
  items.set(key, item)
}

/** Warnings about the items of one list. */
class Warnings {
  readonly #logger: Logger
  readonly #list: string
  #count = 0

  constructor(logger: Logger, list: string) {
    this.#logger = logger
    this.#list = list
  }

  add(about: object, message: string): void {
    this.#count += 1
    if (this.#count <= MAX_WARNINGS) this.#logger.warn({ list: this.#list, ...about }, message)
  }

  end(): void {
    const more = this.#count - MAX_WARNINGS
    if (more <= 0) return
    this.#logger.warn({ list: this.#list, more }, `… ${more} more items of the list are faulty`)
  }
}

/** The name of an unreadable item for a warning. */
function nameOf(raw: unknown): string | undefined {
  if (!isObject(raw)) return undefined
  return [raw['name'], raw['uri'], raw['uriTemplate']].find((name) => typeof name === 'string')
}

/** Templates have no capability of their own, so a server with resources may not know their method. */
function asEmpty(error: unknown): object {
  if (error instanceof RpcError && error.code === JsonRpcCode.methodNotFound) return {}
  throw error
}

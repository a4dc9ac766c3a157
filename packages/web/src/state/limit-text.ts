import type { Limit } from '@mcp-host/client'

/** The unit of each limit, and the caller, chat or address that has a count of its own. */
const COUNTED: ReadonlyMap<string, readonly [what: string, each: string]> = new Map([
  ['LIMIT_ADDRESS', ['requests', 'for each address']],
  ['LIMIT_REQUESTS', ['requests', 'for each caller']],
  ['LIMIT_MESSAGES', ['chat messages', 'for each caller']],
  ['LIMIT_SESSION_MESSAGES', ['chat messages', 'in each chat']],
  ['LIMIT_TOOL_CALLS', ['tool calls', 'for each caller']],
  ['LIMIT_TOKENS', ['tokens', 'for each caller']],
  ['LIMIT_SOCKETS', ['open sockets and streams', 'for each caller at one gateway']],
])

const WINDOWS: ReadonlyMap<number, string> = new Map([
  [1_000, 'a second'],
  [60_000, 'a minute'],
  [3_600_000, 'an hour'],
  [86_400_000, 'a day'],
])

/** A limit in words, as "1,000 requests a second for each caller". */
export function limitText({ setting, what, permits, windowMs }: Limit): string {
  // A newer host may have limits that this page does not know.
  const [counted, each] = COUNTED.get(setting) ?? [what, '']
  const count = permits === undefined ? 'no limit of' : permits.toLocaleString('en')
  const time = windowMs === undefined ? '' : (WINDOWS.get(windowMs) ?? `in ${windowMs} ms`)
  return [count, counted, time, each].filter((part) => part !== '').join(' ')
}

import type { ToolIdentity } from './name-table.ts'
import { shortHash } from './short-hash.ts'

const MAX_LENGTH = 64
/** A name that could end in a `shortHash`. */
const HASHED = /_[a-z0-9]{6}$/

/**
 * Maps names that every model provider accepts, `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`, to the tools, in the order given. A
 * name is `server__tool`. A hash is added when the characters or the length do not fit, or another tool has the same
 * name. The order has no influence on the names.
 */
export function safeToolNames<Tool extends ToolIdentity>(tools: Iterable<Tool>): Map<string, Tool> {
  const all = Array.from(tools)
  const seen = new Set<string>()
  const shared = new Set<string>()
  for (const plain of all.map(plainName)) (seen.has(plain) ? shared : seen).add(plain)
  const named = new Map<string, Tool>()
  for (const tool of all) named.set(safeName(tool, shared, named), tool)
  return named
}

/**
 * Joins server and tool as `server__tool`. Different pairs could get the same name, such as `a` with `b__c` and `a__b`
 * with `c`. In this case the names of the server with the longer name end in a hash, and so do names of the other server
 * that look like them. The result depends only on the names of the servers, not on which servers are ready.
 */
export function joinToolNames(servers: Iterable<string>): (identity: ToolIdentity) => string {
  const clashing = new Set(findNameClashes(servers).map(({ server }) => server))
  const prefixes = Array.from(clashing, (server) => `${server}__`)
  return ({ server, tool }) => {
    const plain = plainName({ server, tool })
    // The server with the shorter name could otherwise give a tool the name with the hash.
    const isLike = HASHED.test(plain) && prefixes.some((prefix) => plain.startsWith(prefix))
    const isHashed = clashing.has(server) || isLike
    return isHashed ? `${plain}_${shortHash(JSON.stringify([server, tool]))}` : plain
  }
}

/** The servers whose joined names could equal those of a server with a shorter name. */
export function findNameClashes(
  servers: Iterable<string>,
): readonly { readonly server: string; readonly other: string }[] {
  const all = Array.from(servers)
  return all.flatMap((server) => {
    const other = all.find((each) => each !== server && `${server}__`.startsWith(`${each}__`))
    return other === undefined ? [] : [{ server, other }]
  })
}

/** Whether a tool is only for the user interface of an MCP app, and not for models. */
export function isForAppsOnly({ _meta }: Readonly<Record<string, unknown>>): boolean {
  const { ui } = Object(_meta) as { ui?: { visibility?: unknown } }
  const visibility = ui?.visibility
  return Array.isArray(visibility) && visibility.length > 0 && !visibility.includes('model')
}

/** A name in the characters and the length that every model provider accepts. It may be that of another tool. */
export function cleanName(name: string): string {
  const clean = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z_])/, '_')
  return clean.slice(0, MAX_LENGTH)
}

function plainName({ server, tool }: ToolIdentity): string {
  return `${server}__${tool}`
}

/** `shared`: names of more than one tool. `taken`: names of earlier tools. */
function safeName(
  { server, tool }: ToolIdentity,
  shared: ReadonlySet<string>,
  taken: ReadonlyMap<string, unknown>,
): string {
  const plain = plainName({ server, tool })
  const cleaned = cleanName(plain)
  if (cleaned === plain && !shared.has(plain) && !taken.has(plain)) return plain
  // More than one salt is needed when the name of another tool equals the hashed name.
  for (let salt = 0; ; salt++) {
    const hash = shortHash(JSON.stringify(salt === 0 ? [server, tool] : [server, tool, salt]))
    const hashed = `${cleaned.slice(0, MAX_LENGTH - hash.length - 1)}_${hash}`
    if (!taken.has(hashed)) return hashed
  }
}

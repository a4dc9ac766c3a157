import type { FaultList } from '../../document/fault-list.ts'
import { type Draft, memberOf, refuse, valueOf, type Written } from './draft.ts'
import { putProgram } from './put-program.ts'
import { resolveSecrets } from './resolve-secrets.ts'

/** Whether a server has an address or is a program that is started here. */
export type Place = 'remote' | 'program'

const MAX_PORT = 65_535

/** Sets the `url` of a server, or its `command`. Undefined when it has faults. */
export function placeServer(draft: Draft, faults: FaultList): Place | undefined {
  const entry = draft.written
  const config = memberOf(entry, 'config')
  const port = config && memberOf(config, 'port')
  const url = memberOf(entry, 'url')
  if (port !== undefined && valueOf(port) !== 0) {
    if (!putPort(draft, port, faults)) return undefined
    warnUnused(entry, ['url', 'package', 'version', 'branch'], 'config.port', faults)
    return 'remote'
  }
  if (valueOf(memberOf(entry, 'type')) === 'git') {
    const remedy = 'Clone the repository, and write the command that starts it: "command", "args".'
    refuse(faults, typeOrEntry(entry), 'is a repository, which this host does not fetch', remedy)
    return undefined
  }
  if (url !== undefined && isAddress(url)) {
    const { node, path } = resolveSecrets(url, faults)
    draft.put('url', node, path)
    warnUnused(entry, ['package', 'version', 'branch'], 'url', faults)
    return 'remote'
  }
  return putProgram(draft, faults) ? 'program' : undefined
}

function putPort(draft: Draft, port: Written, faults: FaultList): boolean {
  const value = valueOf(resolveSecrets(port, faults))
  const isVariable = typeof value === 'string' && value.includes('${')
  const number = typeof value === 'string' ? Number(value) : value
  const isPort =
    typeof number === 'number' && Number.isInteger(number) && number > 0 && number <= MAX_PORT
  if (!isVariable && !isPort) {
    refuse(faults, port, `must be a whole number from 1 to ${MAX_PORT}`, 'Write "port": 3001.')
    return false
  }
  draft.putText('type', 'http', port)
  draft.putText('url', `http://localhost:${String(value)}/mcp`, port)
  return true
}

/** Whether a `url` is no path; a variable may have any address. */
function isAddress(url: Written): boolean {
  const value = valueOf(url)
  return typeof value === 'string' && /^(https?:\/\/|wss?:\/\/|env:|\$\{)/i.test(value)
}

function typeOrEntry(entry: Written): Written {
  return memberOf(entry, 'type') ?? entry
}

/** Warns about fields of a program, as the server runs already. `address`: the field that says so. */
function warnUnused(
  entry: Written,
  fields: readonly string[],
  address: string,
  faults: FaultList,
): void {
  const config = memberOf(entry, 'config')
  const unused = [
    ...fields.map((field) => memberOf(entry, field)),
    config && memberOf(config, 'environment'),
    config && memberOf(config, 'args'),
  ]
  for (const field of unused) {
    if (field === undefined || field.node.children?.length === 0) continue
    const message = `is ignored, since "${address}" says that the server runs already`
    const remedy = `Remove it, or remove "${address}" to have the server started here.`
    faults.tolerate(field.node.offset, field.path, message, remedy)
  }
}

import type { FaultList } from '../../document/fault-list.ts'
import { fieldPath, membersOf } from '../../document/json-tree.ts'
import { convertAuth } from './convert-auth.ts'
import { Draft, memberOf, valueOf, type Written } from './draft.ts'
import { placeServer } from './place-server.ts'
import { resolveSecrets } from './resolve-secrets.ts'

const FIELDS = [
  'type',
  'url',
  'package',
  'version',
  'branch',
  'auth_strategy',
  'auth_config',
  'config',
]
const CONFIG_FIELDS = ['environment', 'args', 'port']

/** Converts an entry of `servers`. Fields of this host in it stay. `master`: the object `master_oauth`. */
export function convertServer(
  entry: Written,
  master: Written | undefined,
  faults: FaultList,
): Draft {
  const draft = new Draft(entry)
  for (const { key, offset, value } of membersOf(entry.node)) {
    if (FIELDS.includes(key)) continue
    const field = { node: value, path: fieldPath(entry.path, key) }
    // A name is not expanded.
    const { node, path } = key === 'id' ? field : resolveSecrets(field, faults)
    draft.put(key, { ...node }, path, offset)
  }
  warnUnknown(entry, faults)
  const place = placeServer(draft, faults)
  if (place !== undefined) convertAuth(draft, place, master, faults)
  // A missing command would be a second fault, which follows from the first.
  else draft.putText('command', 'unknown', entry)
  return draft
}

function warnUnknown(entry: Written, faults: FaultList): void {
  const config = memberOf(entry, 'config')
  if (config === undefined) return
  for (const { key, offset } of membersOf(config.node)) {
    if (CONFIG_FIELDS.includes(key)) continue
    const remedy = `Remove it, or use one of ${CONFIG_FIELDS.join(', ')}.`
    faults.tolerate(
      offset,
      fieldPath(config.path, key),
      'is not a known field and is ignored',
      remedy,
    )
  }
}

/** Whether an entry is in the form of Master MCP Server, and not in that of this host. */
export function isForeignEntry(entry: Written): boolean {
  if (entry.node.type !== 'object') return false
  const type = valueOf(memberOf(entry, 'type'))
  return (
    ['auth_strategy', 'config', 'package'].some((key) => memberOf(entry, key) !== undefined) ||
    ['git', 'npm', 'pypi', 'docker'].some((each) => each === type)
  )
}

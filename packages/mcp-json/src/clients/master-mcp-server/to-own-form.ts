import { findNodeAtLocation, type Node } from 'jsonc-parser'

import type { FaultList } from '../../document/fault-list.ts'
import { fieldPath, membersOf } from '../../document/json-tree.ts'
import { nodeOf, propertyOf } from '../../document/make-nodes.ts'
import { convertRouting } from './convert-routing.ts'
import { convertServer, isForeignEntry } from './convert-server.ts'
import { Draft, memberOf, valueOf, type Written } from './draft.ts'
import { mergeInstances } from './merge-instances.ts'

/** Remedies of root fields whose meaning has a setting of this host. */
const SETTINGS: Readonly<Record<string, string>> = {
  hosting: 'Set PORT and PUBLIC_URL in the environment.',
  logging: 'Set LOG_LEVEL in the environment.',
  security: 'Set TOKEN_ENC_KEY for the tokens of users, and AUDIT, in the environment.',
  oauth_delegation: 'Set PUBLIC_URL in the environment; each server has its own "auth_config".',
}

/** Remedies of fields in `master_oauth` that an exchange of tokens does not need. */
const MASTER_SETTINGS: Readonly<Record<string, string>> = {
  authorization_endpoint: 'Set OIDC_ISSUER in the environment for logins at this host.',
  redirect_uri: 'Set PUBLIC_URL in the environment.',
  jwks_uri: 'Set OIDC_ISSUER in the environment for logins at this host.',
}

const TRANSLATED = ['master_oauth', 'routing', ...Object.keys(SETTINGS)]

/**
 * Translates a configuration of Master MCP Server into the form of this host; returns any other as it is. Faults of the
 * result have the places and paths of the file. Undefined in strict mode, with a fault.
 */
export function toOwnForm(root: Node, faults: FaultList): Node | undefined {
  if (!isMasterForm(root)) return root
  if (faults.isStrict) {
    const message = 'is in the form of Master MCP Server, which strict mode refuses'
    const remedy =
      'Write { "servers": { "name": { "url": "…" } } }, or read it without strict mode.'
    faults.add(root.offset, '', message, remedy)
    return undefined
  }
  const file = { node: root, path: '' }
  const properties = membersOf(root).flatMap(({ key, offset, value }) => {
    if (TRANSLATED.includes(key)) return []
    const own = key === 'servers' && value.type === 'array' ? toServers(file, faults) : { ...value }
    return [propertyOf(key, { offset, length: key.length }, own)]
  })
  warnAboutSettings(file, faults)
  return nodeOf('object', root, properties)
}

function isMasterForm(root: Node): boolean {
  const servers = findNodeAtLocation(root, ['servers'])
  if (servers?.type === 'object' || findNodeAtLocation(root, ['mcpServers'])) return false
  const hasRoot = ['master_oauth', 'hosting'].some((key) => findNodeAtLocation(root, [key]))
  return hasRoot || (servers?.children ?? []).some((node) => isOfMaster(node))
}

function isOfMaster(node: Node): boolean {
  return ['auth_strategy', 'config'].some((key) => findNodeAtLocation(node, [key]))
}

function toServers(file: Written, faults: FaultList): Node {
  const list = findNodeAtLocation(file.node, ['servers'])
  const entries = (list?.children ?? []).map((node, index): Written => {
    return { node, path: fieldPath('servers', index) }
  })
  const master = memberOf(file, 'master_oauth')
  const drafts = entries.flatMap((entry) =>
    isForeignEntry(entry) ? [convertServer(entry, master, faults)] : [],
  )
  const merged = mergeInstances(drafts)
  convertRouting(memberOf(file, 'routing'), merged, faults)
  const byEntry = new Map(merged.map((draft) => [draft.written, draft] as const))
  const converted = new Set(drafts.map(({ written }) => written))
  const servers = entries.filter((entry) => byEntry.has(entry) || !converted.has(entry))
  const nodes = servers.map((entry, index) => {
    const path = fieldPath('servers', index)
    const draft = byEntry.get(entry) ?? entry
    if (!(draft instanceof Draft)) faults.rename(path, entry.path)
    else draft.registerPaths(path, faults)
    return draft instanceof Draft ? draft.build() : { ...entry.node }
  })
  return nodeOf('array', list ?? file.node, nodes)
}

function warnAboutSettings(file: Written, faults: FaultList): void {
  for (const [key, remedy] of Object.entries(SETTINGS)) {
    warnIgnored(
      memberOf(file, key),
      'is a setting of the environment here and is ignored',
      remedy,
      faults,
    )
  }
  const master = memberOf(file, 'master_oauth')
  if (master === undefined) return
  const servers = memberOf(file, 'servers')?.node.children ?? []
  const isUsed = servers.some((node) => {
    return valueOf(memberOf({ node, path: '' }, 'auth_strategy')) === 'master_oauth'
  })
  if (!isUsed) {
    const message = 'is ignored, since no server has "auth_strategy": "master_oauth"'
    warnIgnored(
      master,
      message,
      'Set OIDC_ISSUER in the environment for logins at this host.',
      faults,
    )
    return
  }
  for (const [key, remedy] of Object.entries(MASTER_SETTINGS)) {
    warnIgnored(memberOf(master, key), 'is not needed and is ignored', remedy, faults)
  }
}

function warnIgnored(
  field: Written | undefined,
  message: string,
  remedy: string,
  faults: FaultList,
): void {
  if (field !== undefined) faults.tolerate(field.node.offset, field.path, message, remedy)
}

import type { Node } from 'jsonc-parser'

import { ownValue } from '@mcp-host/json'
import type { FaultList } from '../../document/fault-list.ts'
import { fieldPath, membersOf } from '../../document/json-tree.ts'
import { Draft, memberOf, valueOf, type Written } from './draft.ts'
import { resolveSecrets } from './resolve-secrets.ts'

const BREAKER_NAMES: ReadonlyMap<string, string> = new Map([
  ['failureThreshold', 'failures'],
  ['recoveryTimeoutMs', 'openMs'],
])
const BALANCES: ReadonlyMap<unknown, string> = new Map([
  ['round_robin', 'round-robin'],
  ['weighted', 'weighted'],
  ['health', 'health-scored'],
])

/** Remedies of fields in `routing` that servers have not. */
const IGNORED: Readonly<Record<string, string>> = {
  retry:
    'Remove it: requests that cannot have begun, and those that are safe to repeat, are tried again.',
  'circuitBreaker.successThreshold': 'Remove it: one call that succeeds closes the breaker.',
}

/** Sets the circuit breaker of remote servers, and the balance of those with several instances. */
export function convertRouting(
  routing: Written | undefined,
  drafts: readonly Draft[],
  faults: FaultList,
): void {
  if (routing === undefined) return
  warnIgnored(routing, ['loadBalancer', 'circuitBreaker'], faults)
  const breaker = memberOf(routing, 'circuitBreaker')
  if (breaker !== undefined) putBreaker(breaker, drafts, faults)
  const balancer = memberOf(routing, 'loadBalancer')
  if (balancer === undefined) return
  warnIgnored(balancer, ['strategy'], faults)
  const strategy = memberOf(balancer, 'strategy')
  if (strategy !== undefined) putBalance(strategy, drafts, faults)
}

function putBreaker(breaker: Written, drafts: readonly Draft[], faults: FaultList): void {
  warnIgnored(breaker, [...BREAKER_NAMES.keys()], faults)
  for (const draft of drafts) {
    if (draft.get('url') === undefined || draft.get('circuitBreaker') !== undefined) continue
    const own = new Draft(breaker)
    for (const [name, ownName] of BREAKER_NAMES) {
      const field = memberOf(breaker, name)
      if (field !== undefined) own.put(ownName, resolveSecrets(field, faults).node, field.path)
    }
    draft.putObject('circuitBreaker', own)
  }
}

function putBalance(strategy: Written, drafts: readonly Draft[], faults: FaultList): void {
  const balance = BALANCES.get(valueOf(strategy))
  const { offset } = strategy.node
  if (balance === undefined) {
    const remedy = 'Write "round_robin", "weighted" or "health".'
    const message = 'is not a known strategy and is ignored'
    return faults.tolerate(offset, strategy.path, message, remedy)
  }
  const balanced = drafts.filter((draft) => draft.get('instances') !== undefined)
  for (const draft of balanced) draft.putText('balance', balance, strategy)
  if (balanced.length > 0) return
  const message = 'has nothing to spread requests over and is ignored'
  const remedy = 'Give the servers that share requests the same "id", or remove it.'
  faults.tolerate(offset, strategy.path, message, remedy)
}

function warnIgnored({ node, path }: Written, known: readonly string[], faults: FaultList): void {
  for (const { key, value } of membersOf(node)) {
    if (known.includes(key) || isNull(value)) continue
    const field = fieldPath(path, key)
    const remedy = ownValue(IGNORED, field.slice('routing.'.length)) ?? 'Remove it.'
    faults.tolerate(value.offset, field, 'is ignored', remedy)
  }
}

const isNull = ({ type }: Node): boolean => type === 'null'

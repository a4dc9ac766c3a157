import { ACCOUNTS } from '@mcp-host/contracts'
import { ALL_SETTINGS } from '../../tools/host/settings.ts'
import type { KnownSecrets } from './check-references.ts'
import type { Manifest, Workload } from './manifest.ts'
import { containersOf, hasLabels, isWorkload, nameOf, podLabels, podOf } from './manifest.ts'

const BROKER = 'nats'
const BUS_SECRET = /^bus-(?!accounts$)/

/**
 * Compares the manifests with the accounts of the bus and with the settings: each service has its own credential, all
 * that have one reach nats-server and nobody else does, and no service reaches another.
 */
export function checkBus(manifests: readonly Manifest[], secrets: KnownSecrets): string[] {
  const workloads = manifests.filter(isWorkload)
  const clients = workloads.filter((each) => credentialsOf(each).length > 0)
  const missing = Object.keys(ACCOUNTS)
    .filter(
      (participant) => !clients.some((each) => credentialsOf(each).includes(`bus-${participant}`)),
    )
    .map((participant) => `no workload has the credential of ${participant}`)
  return [
    ...missing,
    ...clients.flatMap((each) =>
      credentialFaults(each).map((fault) => `${nameOf(each)}: ${fault}`),
    ),
    ...networkFaults(manifests, clients),
    ...workloads.flatMap((each) =>
      settingFaults(each, manifests, secrets).map((fault) => `${nameOf(each)}: ${fault}`),
    ),
    ...clusterFaults(manifests),
  ]
}

function credentialsOf(workload: Workload): string[] {
  return (podOf(workload).volumes ?? [])
    .map(({ secret }) => secret?.secretName ?? '')
    .filter((name) => BUS_SECRET.test(name))
}

function credentialFaults(workload: Workload): string[] {
  // The job that creates streams belongs to the operators.
  const own = workload.kind === 'Job' ? 'tools' : workload.metadata?.name
  return credentialsOf(workload)
    .filter((name) => name !== `bus-${own}`)
    .map((name) => `it has ${name}, the credential of another service`)
}

type Policy = Extract<Manifest, { readonly kind: 'NetworkPolicy' }>
type Peer = NonNullable<NonNullable<NonNullable<Policy['spec']>['ingress']>[number]['from']>[number]

function networkFaults(manifests: readonly Manifest[], clients: readonly Workload[]): string[] {
  const policies = manifests.filter((each) => each.kind === 'NetworkPolicy')
  const workloads = manifests.filter(isWorkload)
  const isDenied = policies.some(({ spec }) => {
    const { podSelector = {}, policyTypes = [], ingress, egress } = spec ?? {}
    const isOfAll = Object.keys(podSelector).length === 0
    return isOfAll && policyTypes.length === 2 && ingress === undefined && egress === undefined
  })
  const matches = (peers: readonly Peer[] | undefined, workload: Workload): boolean =>
    peers === undefined ||
    peers.some(
      ({ podSelector, namespaceSelector }) =>
        namespaceSelector === undefined &&
        podSelector !== undefined &&
        hasLabels(podLabels(workload), podSelector.matchLabels),
    )
  const of = (workload: Workload): readonly Policy[] =>
    policies.filter(({ spec }) => hasLabels(podLabels(workload), spec?.podSelector?.matchLabels))
  const mayLeave = (from: Workload, to: Workload): boolean =>
    of(from).some(({ spec }) => spec?.egress?.some((rule) => matches(rule.to, to)))
  const mayEnter = (from: Workload, to: Workload): boolean =>
    of(to).some(({ spec }) => spec?.ingress?.some((rule) => matches(rule.from, from)))
  const faults = workloads.flatMap((from) =>
    workloads.flatMap((to) => {
      const isNeeded = to.metadata?.name === BROKER && (clients.includes(from) || from === to)
      const not = isNeeded ? 'not ' : ''
      return [
        ...(mayLeave(from, to) === isNeeded
          ? []
          : [`${nameOf(from)} may ${not}call ${nameOf(to)}`]),
        ...(mayEnter(from, to) === isNeeded
          ? []
          : [`${nameOf(to)} does ${not}let ${nameOf(from)} in`]),
      ]
    }),
  )
  return isDenied ? faults : ['connections are not denied by default', ...faults]
}

const SETTINGS = new Map(
  ALL_SETTINGS.flatMap(({ settings }) => Object.values(settings)).map((each) => [each.env, each]),
)

function settingFaults(
  workload: Workload,
  manifests: readonly Manifest[],
  secrets: KnownSecrets,
): string[] {
  const files = new Set(
    containersOf(workload).flatMap(({ volumeMounts = [] }) =>
      volumeMounts.flatMap(({ name, mountPath }) => {
        const volume = podOf(workload).volumes?.find((each) => each.name === name)
        const { secretName = '', items } = volume?.secret ?? {}
        const keys = items?.map(({ path }) => path) ?? secrets.get(secretName) ?? []
        return keys.map((key) => `${mountPath}/${key}`)
      }),
    ),
  )
  return containersOf(workload).flatMap(({ envFrom = [] }) =>
    envFrom.flatMap(({ configMapRef }) => {
      const found = manifests.find((each) => nameOf(each) === `ConfigMap/${configMapRef?.name}`)
      const data = found?.kind === 'ConfigMap' ? Object.entries(found.data ?? {}) : []
      return data.flatMap(([name, value]) => {
        const setting = SETTINGS.get(name)
        if (setting === undefined) return [`there is no setting ${name}`]
        const { success, error } = setting.schema.safeParse(value)
        const isLost = value.startsWith('/run/') && !files.has(value)
        return [
          ...(success ? [] : [`${name}: ${error.message}`]),
          ...(isLost ? [`${name}: there is no file ${value}`] : []),
        ]
      })
    }),
  )
}

/** Replicas of messages need as many servers, and a disruption must leave a majority of them. */
function clusterFaults(manifests: readonly Manifest[]): string[] {
  const broker = manifests.find((each) => nameOf(each) === `StatefulSet/${BROKER}`)
  const servers = broker?.kind === 'StatefulSet' ? (broker.spec?.replicas ?? 1) : 0
  const settings = manifests.flatMap((each) => (each.kind === 'ConfigMap' ? [each.data ?? {}] : []))
  const replicas = settings.map((data) => Number(data['NATS_REPLICAS'] ?? 1))
  const budget = manifests.find((each) => nameOf(each) === `PodDisruptionBudget/${BROKER}`)
  const isSafe = budget?.kind === 'PodDisruptionBudget' && budget.spec?.maxUnavailable === 1
  return [
    ...(Math.max(...replicas) > servers
      ? [`NATS_REPLICAS needs more than ${servers} servers`]
      : []),
    ...(isSafe ? [] : ['more than one nats-server may be stopped at a time']),
  ]
}

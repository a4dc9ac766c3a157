import type { Labels, Manifest, Workload } from './manifest.ts'
import { containersOf, hasLabels, isWorkload, nameOf, podLabels, podOf } from './manifest.ts'

/** A Secret that exists outside of the manifests, by its keys. */
export type KnownSecrets = ReadonlyMap<string, readonly string[]>

/** Finds references between objects that lead nowhere. */
export function checkReferences(manifests: readonly Manifest[], secrets: KnownSecrets): string[] {
  const workloads = manifests.filter(isWorkload)
  const names = new Set(manifests.map(nameOf))
  return [
    ...manifests
      .filter((each, at) => manifests.findIndex((other) => nameOf(other) === nameOf(each)) !== at)
      .map((each) => `${nameOf(each)}: is there twice`),
    ...manifests.flatMap((manifest) =>
      faultsOf(manifest, { names, workloads, manifests }).map(
        (fault) => `${nameOf(manifest)}: ${fault}`,
      ),
    ),
    ...workloads.flatMap((workload) =>
      workloadFaults(workload, manifests, secrets).map((fault) => `${nameOf(workload)}: ${fault}`),
    ),
  ]
}

interface Context {
  readonly names: ReadonlySet<string>
  readonly workloads: readonly Workload[]
  readonly manifests: readonly Manifest[]
}

function faultsOf(manifest: Manifest, { names, workloads, manifests }: Context): string[] {
  const selected = (labels: Labels = {}): readonly Workload[] =>
    workloads.filter((each) => hasLabels(podLabels(each), labels))
  const nobody = (labels: Labels | undefined): string[] =>
    labels !== undefined && selected(labels).length === 0
      ? [`no pod has the labels ${JSON.stringify(labels)}`]
      : []
  switch (manifest.kind) {
    case 'Service': {
      const { selector, ports = [] } = manifest.spec ?? {}
      const wrong = selected(selector).flatMap((workload) =>
        ports
          .map(({ port, targetPort = port }) => targetPort)
          .filter((port) => !portsOf(workload).has(port))
          .map((port) => `${nameOf(workload)} has no port ${port}`),
      )
      return [...nobody(selector), ...wrong]
    }
    case 'PodDisruptionBudget':
      return nobody(manifest.spec?.selector?.matchLabels)
    case 'NetworkPolicy':
      return policyFaults(manifest, workloads)
    case 'ScaledObject': {
      const { name } = manifest.spec.scaleTargetRef
      return names.has(`Deployment/${name}`) ? [] : [`there is no Deployment ${name}`]
    }
    case 'Ingress': {
      const paths = manifest.spec?.rules?.flatMap(({ http }) => http?.paths ?? []) ?? []
      return paths.flatMap(({ backend: { service } }) => {
        const found = manifests.find((each) => nameOf(each) === `Service/${service?.name}`)
        const ports = found?.kind === 'Service' ? (found.spec?.ports ?? []) : []
        const isThere = ports.some(({ name }) => name === service?.port?.name)
        return isThere ? [] : [`there is no port ${service?.port?.name} of ${service?.name}`]
      })
    }
    case 'StatefulSet': {
      const { serviceName = '' } = manifest.spec ?? {}
      return names.has(`Service/${serviceName}`) ? [] : [`there is no Service ${serviceName}`]
    }
    default:
      return []
  }
}

/** Pods of other namespaces are not known here. */
function policyFaults(
  { spec }: Extract<Manifest, { readonly kind: 'NetworkPolicy' }>,
  workloads: readonly Workload[],
): string[] {
  const chosen = (selector: { readonly matchLabels?: Labels } = {}): readonly Workload[] =>
    workloads.filter((each) => hasLabels(podLabels(each), selector.matchLabels))
  const own = chosen(spec?.podSelector)
  const rules = [
    ...(spec?.ingress ?? []).map(({ from = [], ports = [] }) => ({ peers: from, ports, at: own })),
    ...(spec?.egress ?? []).map(({ to = [], ports = [] }) => ({ peers: to, ports, at: undefined })),
  ]
  const expressions = spec?.podSelector?.matchExpressions ?? []
  const unknown = expressions.flatMap(({ key, values = [] }) =>
    values.filter((value) => !workloads.some((each) => podLabels(each)[key] === value)),
  )
  return [
    ...(own.length === 0 ? ['it selects no pod'] : []),
    ...unknown.map((value) => `no pod is ${value}`),
    ...rules.flatMap(({ peers, ports, at }) => {
      const inside = peers.flatMap(({ podSelector, namespaceSelector }) =>
        podSelector !== undefined && namespaceSelector === undefined ? [podSelector] : [],
      )
      const isOpen = inside.some((selector) => Object.keys(selector).length === 0)
      const lost = inside.filter((selector) => chosen(selector).length === 0)
      const targets = at ?? inside.flatMap(chosen)
      const wrong = ports
        .flatMap(({ port }) => (typeof port === 'string' ? [port] : []))
        .filter((port) => !targets.every((each) => portsOf(each).has(port)))
      return [
        ...(isOpen ? ['a rule is for every pod'] : []),
        ...lost.map((selector) => `no pod has the labels ${JSON.stringify(selector.matchLabels)}`),
        ...wrong.map((port) => `there is no port ${port}`),
      ]
    }),
  ]
}

/** The names and numbers of the ports of a workload. */
function portsOf(workload: Workload): ReadonlySet<string | number> {
  const ports = containersOf(workload).flatMap(({ ports: some = [] }) => some)
  return new Set(ports.flatMap(({ name, containerPort }) => [name ?? containerPort, containerPort]))
}

function workloadFaults(
  workload: Workload,
  manifests: readonly Manifest[],
  secrets: KnownSecrets,
): string[] {
  const { volumes = [], topologySpreadConstraints = [] } = podOf(workload)
  const labels = podLabels(workload)
  const selector = workload.spec?.selector?.matchLabels
  const configMaps = new Set(
    manifests.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata?.name),
  )
  const claims = workload.kind === 'StatefulSet' ? (workload.spec?.volumeClaimTemplates ?? []) : []
  const known = new Set([
    ...volumes.map(({ name }) => name),
    ...claims.map(({ metadata }) => metadata?.name),
  ])
  const faults = volumes.flatMap(({ configMap, secret }) => {
    const lost = configMap !== undefined && !configMaps.has(configMap.name)
    const { secretName = '', items = [] } = secret ?? {}
    const keys = secrets.get(secretName)
    return [
      ...(lost ? [`there is no ConfigMap ${configMap.name}`] : []),
      ...(secret !== undefined && keys === undefined ? [`there is no Secret ${secretName}`] : []),
      ...items
        .filter(({ key }) => keys?.includes(key) === false)
        .map(({ key }) => `Secret ${secretName} has no key ${key}`),
    ]
  })
  const ofContainers = containersOf(workload).flatMap((container) => {
    const { volumeMounts = [], envFrom = [], ports = [] } = container
    const lostMaps = envFrom.flatMap(({ configMapRef }) =>
      configMapRef !== undefined && !configMaps.has(configMapRef.name) ? [configMapRef.name] : [],
    )
    const lostSecrets = envFrom.flatMap(({ secretRef }) =>
      secretRef !== undefined && secretRef.optional !== true && !secrets.has(secretRef.name ?? '')
        ? [secretRef.name]
        : [],
    )
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe]
    const asked = probes.flatMap((probe) => probe?.httpGet?.port ?? [])
    return [
      ...volumeMounts
        .filter(({ name }) => !known.has(name))
        .map(({ name }) => `there is no volume ${name}`),
      ...lostMaps.map((name) => `there is no ConfigMap ${name}`),
      ...lostSecrets.map((name) => `there is no Secret ${name}`),
      ...asked
        .filter((port) => !ports.some(({ name }) => name === port))
        .map((port) => `a probe asks at the port ${port}, which is not there`),
    ]
  })
  const spread = topologySpreadConstraints
    .map(({ labelSelector }) => labelSelector?.matchLabels)
    .filter((wanted) => !hasLabels(labels, wanted))
    .map((wanted) => `it is spread by ${JSON.stringify(wanted)}, which it does not have`)
  const isLost = selector !== undefined && !hasLabels(labels, selector)
  return [
    ...(isLost ? [`its pods do not have the labels ${JSON.stringify(selector)}`] : []),
    ...faults,
    ...ofContainers,
    ...spread,
  ]
}

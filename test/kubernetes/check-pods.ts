import type { Manifest, Workload } from './manifest.ts'
import { containersOf, isWorkload, nameOf, podOf } from './manifest.ts'

type Container = ReturnType<typeof containersOf>[number]

/** The time a service takes after SIGTERM: `DRAIN_LIMIT_MS`, and 5 s to close. */
const STOP_SECONDS = 30

/** By these, supervisors give each program of an MCP server a user of its own. */
const SUPERVISOR_CAPABILITIES = 'CHOWN,DAC_OVERRIDE,KILL,SETGID,SETUID'

/** Finds pods that are not restricted, not watched, or not given the time to stop. */
export function checkPods(manifests: readonly Manifest[]): string[] {
  return manifests
    .filter(isWorkload)
    .flatMap((workload) => podFaults(workload).map((fault) => `${nameOf(workload)}: ${fault}`))
}

function podFaults(workload: Workload): string[] {
  const pod = podOf(workload)
  const { runAsNonRoot, runAsUser = 0, seccompProfile } = pod.securityContext ?? {}
  const isSupervisor = workload.metadata?.name === 'mcp-supervisor'
  const added = containersOf(workload).map((each) => each.securityContext?.capabilities?.add)
  const rules: readonly (readonly [boolean, string])[] = [
    [isSupervisor || (runAsNonRoot === true && runAsUser > 0), 'it may run as root'],
    [added.join() === (isSupervisor ? SUPERVISOR_CAPABILITIES : ''), 'it has other capabilities'],
    [seccompProfile?.type === 'RuntimeDefault', 'it has no seccomp profile'],
    [pod.automountServiceAccountToken === false, 'it gets a token for the API of Kubernetes'],
    [pod.hostNetwork !== true && pod.hostPID !== true, 'it is in the namespaces of its host'],
  ]
  return [
    ...rules.filter(([isKept]) => !isKept).map(([, fault]) => fault),
    ...containersOf(workload).flatMap(containerFaults),
    ...(workload.kind === 'Job' ? [] : containersOf(workload).flatMap(watchFaults)),
    ...(workload.kind === 'Deployment' ? serviceFaults(workload) : []),
    ...(workload.kind === 'StatefulSet' ? containersOf(workload).flatMap(storeFaults) : []),
  ]
}

function containerFaults({ image = '', resources, securityContext = {} }: Container): string[] {
  const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = securityContext
  const rules: readonly (readonly [boolean, string])[] = [
    [/:[\w.-]+$/.test(image) && !image.endsWith(':latest'), `the image ${image} has no version`],
    [allowPrivilegeEscalation === false, 'it may gain privileges'],
    [readOnlyRootFilesystem === true, 'its file system can be written'],
    [capabilities?.drop?.includes('ALL') === true, 'it has capabilities'],
    [resources?.limits?.['memory'] !== undefined, 'its memory has no limit'],
    [resources?.requests?.['cpu'] !== undefined, 'it requests no CPU'],
  ]
  return rules.filter(([isKept]) => !isKept).map(([, fault]) => fault)
}

function watchFaults({
  startupProbe,
  readinessProbe,
  livenessProbe,
  lifecycle,
}: Container): string[] {
  const parts = { startupProbe, readinessProbe, livenessProbe, preStop: lifecycle?.preStop }
  return Object.entries(parts).flatMap(([name, part]) => (part === undefined ? [`no ${name}`] : []))
}

/** With a query, nats-server does not say that it cannot store. */
function storeFaults({ livenessProbe }: Container): string[] {
  const command = livenessProbe?.exec?.command?.join(' ') ?? ''
  return /\/healthz( |$)/.test(command) ? [] : ['its liveness probe does not ask for /healthz']
}

function serviceFaults({ spec }: Extract<Manifest, { readonly kind: 'Deployment' }>): string[] {
  const { containers, terminationGracePeriodSeconds = 30 } = spec?.template.spec ?? {
    containers: [],
  }
  const [service] = containers
  const { readinessProbe, livenessProbe, startupProbe, lifecycle } = service ?? {}
  const paths = [startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet?.path)
  const least = STOP_SECONDS + (lifecycle?.preStop?.sleep?.seconds ?? 0)
  const isProbed = paths.join() === '/health,/ready,/health'
  return [
    ...(isProbed ? [] : [`its probes ask ${paths.join(', ')}`]),
    ...(terminationGracePeriodSeconds > least ? [] : [`it needs more than ${least} s to stop`]),
    ...(spec?.strategy?.rollingUpdate?.maxUnavailable === 0 ? [] : ['a rollout stops pods first']),
  ]
}

import type { IPodSpec } from 'kubernetes-models/v1/PodSpec'
import { stringify } from 'yaml'
import type { Manifest, Workload } from './manifest.ts'
import { hasLabels, isWorkload, podLabels, podOf } from './manifest.ts'

/** The first pod of a workload, as `podman kube play` takes it. */
export interface PodFile {
  readonly name: string
  /** The services that lead to it. */
  readonly services: readonly string[]
  readonly yaml: string
}

/** podman makes this user the owner of a volume: it knows no `fsGroup`. */
const OWNED = { 'volume.podman.io/uid': '1000', 'volume.podman.io/gid': '1000' }

/** The pods of all workloads, the first of each. They need the Secrets that `manifests` name. */
export function podFiles(manifests: readonly Manifest[]): PodFile[] {
  const settings = manifests.filter(({ kind }) => kind === 'ConfigMap')
  return manifests.filter(isWorkload).map((workload) => {
    const name = `${workload.metadata?.name}-0`
    const labels = podLabels(workload)
    const services = manifests.flatMap((each) =>
      each.kind === 'Service' && hasLabels(labels, each.spec?.selector ?? {})
        ? [each.metadata?.name ?? '']
        : [],
    )
    const claims = claimsOf(workload).map(({ metadata, spec }) => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: `${name}-${metadata?.name}`, annotations: OWNED },
      spec,
    }))
    const volumes = claimsOf(workload).map(({ metadata }) => ({
      name: metadata?.name ?? '',
      persistentVolumeClaim: { claimName: `${name}-${metadata?.name}` },
    }))
    const spec = forPodman(podOf(workload), volumes)
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec }
    return { name, services, yaml: toYaml([...settings, ...claims, pod]) }
  })
}

/** podman has no namespaces. */
export function toYaml(objects: readonly Pick<Manifest, 'metadata'>[]): string {
  return objects
    .map(({ metadata, ...rest }) => ({ ...rest, metadata: { ...metadata, namespace: undefined } }))
    .map((each) => stringify(each))
    .join('---\n')
}

function claimsOf(workload: Workload) {
  return workload.kind === 'StatefulSet' ? (workload.spec?.volumeClaimTemplates ?? []) : []
}

function forPodman(
  { containers, volumes = [], ...spec }: IPodSpec,
  claimed: NonNullable<IPodSpec['volumes']>,
): object {
  const isRoot = spec.securityContext?.runAsUser === 0
  return {
    ...spec,
    containers: containers.map((container) => ({
      ...container,
      // podman probes by curl, which the images do not have.
      startupProbe: undefined,
      readinessProbe: undefined,
      livenessProbe: undefined,
    })),
    volumes: [
      ...volumes.map((volume) =>
        // The owner of the files of Secrets is root.
        volume.secret === undefined || isRoot
          ? volume
          : { ...volume, secret: { ...volume.secret, defaultMode: 0o444 } },
      ),
      ...claimed,
    ],
  }
}

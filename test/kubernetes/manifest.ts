import type { IScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject'
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment'
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet'
import type { IJob } from 'kubernetes-models/batch/v1/Job'
import type { IIngress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap'
import type { IContainer } from 'kubernetes-models/v1/Container'
import type { INamespace } from 'kubernetes-models/v1/Namespace'
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec'
import type { ISecret } from 'kubernetes-models/v1/Secret'
import type { IService } from 'kubernetes-models/v1/Service'
import { parseAllDocuments } from 'yaml'

export type Workload = IDeployment | IStatefulSet | IJob

/** An object of Kubernetes, of the kinds that the manifests have. */
export type Manifest =
  | Workload
  | IConfigMap
  | IIngress
  | INamespace
  | INetworkPolicy
  | IPodDisruptionBudget
  | IScaledObject
  | ISecret
  | IService

export type Labels = Readonly<Record<string, string>>

export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if ('errors' in document && document.errors.length > 0) throw document.errors[0]
    // The schemas check it before anything reads it.
    return (document.toJS() ?? []) as Manifest
  })
}

/** Its kind and name, as `Service/nats`. */
export function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata?.name ?? ''}`
}

export function isWorkload(manifest: Manifest): manifest is Workload {
  return ['Deployment', 'StatefulSet', 'Job'].includes(manifest.kind)
}

export function podOf(workload: Workload): IPodSpec {
  return workload.spec?.template.spec ?? { containers: [] }
}

export function podLabels(workload: Workload): Labels {
  return workload.spec?.template.metadata?.labels ?? {}
}

export function containersOf(workload: Workload): readonly IContainer[] {
  const { initContainers = [], containers } = podOf(workload)
  return [...initContainers, ...containers]
}

export function hasLabels(labels: Labels, wanted: Labels = {}): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value)
}

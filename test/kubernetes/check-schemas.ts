import type { Manifest } from './manifest.ts'

interface Model {
  new (data: unknown): { validate(): void }
}

const PACKAGES: readonly string[] = ['kubernetes-models', '@kubernetes-models/keda']

/** Stable versions, and that of KEDA: the package also has versions that Kubernetes has removed. */
const VERSIONS = /^(([\w.]+\/)?v\d+|keda\.sh\/v1alpha1)$/

/** Compares an object with the schema of its kind: required fields, types, formats. */
export async function checkSchema(manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind } = manifest
  const Model = VERSIONS.test(apiVersion) ? await findModel(apiVersion, kind) : undefined
  if (Model === undefined) return [`there is no ${kind} of ${apiVersion}`]
  try {
    new Model(manifest).validate()
    return []
  } catch (error) {
    return [`schema: ${String(error)}`]
  }
}

async function findModel(apiVersion: string, kind: string): Promise<Model | undefined> {
  for (const name of PACKAGES) {
    try {
      const models = (await import(`${name}/${apiVersion}/${kind}`)) as Record<string, Model>
      return models[kind]
    } catch {
      // The other package may have it.
    }
  }
  return undefined
}

import { checkBus } from './check-bus.ts'
import { checkFields } from './check-fields.ts'
import { checkPods } from './check-pods.ts'
import type { KnownSecrets } from './check-references.ts'
import { checkReferences } from './check-references.ts'
import { checkSchema } from './check-schemas.ts'
import type { Manifest } from './manifest.ts'
import { nameOf } from './manifest.ts'

/** The faults of several sets of manifests, such as overlays. */
export async function findFaults(
  sets: readonly (readonly Manifest[])[],
  secrets: KnownSecrets,
): Promise<string[][]> {
  const fields = await checkFields(sets.flat())
  return Promise.all(
    sets.map(async (manifests) => {
      const shapes = await Promise.all(
        manifests.map(async (each) =>
          [...(await checkSchema(each)), ...(fields.get(each) ?? [])].map(
            (fault) => `${nameOf(each)}: ${fault}`,
          ),
        ),
      )
      // The other checks read what has the right shape.
      if (shapes.flat().length > 0) return shapes.flat()
      return [
        ...checkReferences(manifests, secrets),
        ...checkPods(manifests),
        ...checkBus(manifests, secrets),
      ]
    }),
  )
}

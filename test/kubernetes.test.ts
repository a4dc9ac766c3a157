// The manifests in deploy/k8s: both overlays are valid, and the checks find what would break them.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { findFaults } from './kubernetes/check-manifests.ts'
import type { KnownSecrets } from './kubernetes/check-references.ts'
import type { Manifest } from './kubernetes/manifest.ts'
import { nameOf, parseManifests } from './kubernetes/manifest.ts'
import { mutations } from './kubernetes/mutations.ts'
import { kustomize, render } from './kubernetes/render.ts'

const root = join(import.meta.dirname, '..')
const reason =
  kustomize === undefined ? ' (skipped: neither kustomize nor kubectl is installed)' : ''

describe.skipIf(kustomize === undefined)(`the Kubernetes manifests${reason}`, () => {
  const sets = new Map<string, string[]>()
  let secrets: KnownSecrets

  beforeAll(() => {
    for (const overlay of ['dev', 'prod']) {
      const manifests = parseManifests(render(join('overlays', overlay)))
      sets.set(
        overlay,
        manifests.map((manifest) => stringify(manifest, { aliasDuplicateObjects: false })),
      )
    }
    secrets = knownSecrets()
  })

  test.each(['dev', 'prod'])('the overlay %s is valid', async (overlay) => {
    const manifests = (sets.get(overlay) ?? []).flatMap(parseManifests)
    expect(manifests.length).toBeGreaterThan(20)
    expect(await findFaults([manifests], secrets)).toEqual([[]])
  })

  test(`each of ${mutations.length} faults is found`, async () => {
    const texts = sets.get('prod') ?? []
    const broken = mutations.map(([what, object, from, to]) => {
      const at = texts.findIndex((text) => isNamed(parse(text) as Manifest, object))
      const text = texts[at]?.replace(from, to)
      expect(text, `${what} changes ${object}`).not.toBe(texts[at])
      return texts.with(at, text ?? '').flatMap(parseManifests)
    })
    const faults = await findFaults(broken, secrets)
    const missed = mutations.flatMap(([what, , , , fault], at) => {
      const found = (faults[at] ?? []).join('\n')
      return fault.test(found) ? [] : [{ what, found }]
    })
    expect(missed).toEqual([])
  })

  test('services scale by metrics that the host has', () => {
    const queries = (sets.get('prod') ?? []).flatMap((text) => text.match(/mcp_host_\w+/g) ?? [])
    const sources = globSync('{packages,services}/*/src/**/*.ts', { cwd: root })
    const code = sources.map((file) => readFileSync(join(root, file), 'utf8')).join('\n')
    expect(queries.length).toBeGreaterThan(3)
    expect(queries.filter((name) => !code.includes(`'${name}'`))).toEqual([])
  })
})

/** The name of a generated ConfigMap ends in a hash. */
function isNamed(manifest: Manifest, object: string): boolean {
  const name = nameOf(manifest)
  return (
    name === object || (name.startsWith('ConfigMap/') && name.replace(/-\w{10}$/, '') === object)
  )
}

/** The Secrets of deploy/k8s/secrets, and the certificates that the guide has cert-manager make. */
function knownSecrets(): KnownSecrets {
  const file = join(root, 'deploy', 'k8s', 'secrets', 'kustomization.yaml')
  const { secretGenerator } = parse(readFileSync(file, 'utf8')) as {
    readonly secretGenerator: readonly {
      readonly name: string
      readonly files: readonly string[]
    }[]
  }
  return new Map([
    ...secretGenerator.map(
      ({ name, files }) => [name, files.map((each) => each.split('=')[0] ?? '')] as const,
    ),
    ['nats-tls', ['ca.crt', 'tls.crt', 'tls.key']],
  ])
}

// How the sources are laid out: what they may import, and how large files and folders may be. Each list holds the places
// that do not keep a rule yet, and only gets shorter. The linter has the limit of functions.
import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  allSources,
  findCircles,
  grouped,
  importGraph,
  importsOf,
  isProduct,
  packageOf,
  root,
  roomOf,
} from './source-graph.ts'

const productSources = allSources.filter(isProduct)

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string>>
  readonly dependencies?: object
  readonly devDependencies?: object
  readonly peerDependencies?: object
}

/** By the folder of the manifest; the root's also has the tests of the root. */
const manifests = new Map(
  globSync('{.,tools,bench,chaos,compat,conformance,packages/*,services/*}/package.json', {
    cwd: root,
  }).map((file) => [dirname(file), JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest]),
)

describe('imports', () => {
  test('every package that a file imports is in the manifest of its own package', () => {
    const undeclared = allSources.flatMap((file) => {
      const manifest = manifests.get(packageOf(file.path)) ?? manifests.get('.')!
      const declared = new Set([manifest.name, ...Object.keys(dependenciesOf(manifest))])
      return importsOf(file)
        .filter((target) => isPackage(target) && !declared.has(packageName(target)))
        .map((target) => `${file.path} → ${packageName(target)}`)
    })
    expect(undeclared).toEqual([])
  })

  const graph = importGraph(
    productSources,
    new Map(
      Array.from(manifests).flatMap(([folder, { name, exports = {} }]) =>
        Object.entries(exports).map(([path, file]) => [join(name, path), join(folder, file)]),
      ),
    ),
  )

  test('files have no circles', () => {
    expect(graph.size).toBeGreaterThan(1_000)
    expect(findCircles(graph)).toEqual([])
  })

  test('folders have no circles; a file beside folders counts as one', () => {
    const isBesideFolders = (path: string): boolean =>
      [packageOf(path), `${packageOf(path)}/src`].includes(dirname(path))
    const folderOf = (path: string): string => (isBesideFolders(path) ? path : dirname(path))
    expect(findCircles(grouped(graph, folderOf))).toEqual([
      ['conformance/fixture', 'conformance/fixture/tools'],
    ])
  })

  test('rooms have no circles', () => {
    expect(findCircles(grouped(graph, roomOf))).toEqual([])
  })

  test('packages have no circles', () => {
    expect(findCircles(grouped(graph, packageOf))).toEqual([])
  })

  test('a package uses none above it: the testkit starts the host by the tools', () => {
    const above = (from: string): number =>
      ['packages', 'services', 'tools'].indexOf(from.split('/')[0] ?? '')
    const upward = Array.from(grouped(graph, packageOf)).flatMap(([from, targets]) =>
      above(from) < 0
        ? []
        : Array.from(new Set(targets))
            .filter((target) => above(target) > above(from))
            .map((target) => `${from} → ${target}`),
    )
    expect(upward.toSorted()).toEqual([
      'packages/testkit → services/llm-worker',
      'packages/testkit → tools',
    ])
  })
})

describe('sizes', () => {
  test('a file has at most 400 lines', () => {
    const sizes = allSources
      .filter(({ path }) => !path.endsWith('.test.ts'))
      .map(({ path, lines }) => [path, lines.length - 1] as const)
    expect(
      beyond(sizes, 400, {
        'packages/bus/src/bus.ts': 553,
        'packages/bus/src/nats-bus.ts': 539,
        'packages/client/src/session-client.ts': 408,
        'packages/mcp-host/src/host.ts': 494,
        'packages/upstream/src/instance/instance.ts': 505,
        'packages/upstream/src/endpoints/stdio-transport.ts': 411,
      }),
    ).toEqual([])
  })

  test('a folder has at most 20 files', () => {
    const files = Map.groupBy(productSources, ({ path }) => dirname(path))
    const sizes = Array.from(files, ([folder, each]) => [folder, each.length] as const)
    expect(
      beyond(sizes, 20, {
        'packages/bus/src': 47,
        'packages/service/src': 31,
        'packages/testkit/src': 28,
        'packages/web/src/parts': 25,
        'packages/web/src/state': 75,
        'packages/web/src/thread': 25,
        tools: 22,
        'tools/host': 34,
      }),
    ).toEqual([])
  })

  test('a composition root has at most 30 imports', () => {
    const roots = /^services\/[\w-]+\/src\/(gateway|orchestrator|supervisor|worker|http\/app)\.ts$/
    const sizes = productSources
      .filter(({ path }) => roots.test(path))
      .map((file) => [file.path, importsOf(file).length] as const)
    expect(sizes.length).toBe(5)
    expect(
      beyond(sizes, 30, {
        'services/gateway/src/gateway.ts': 42,
        'services/gateway/src/http/app.ts': 79,
      }),
    ).toEqual([])
  })
})

function dependenciesOf({ dependencies, devDependencies, peerDependencies }: Manifest): object {
  return { ...dependencies, ...devDependencies, ...peerDependencies }
}

function isPackage(target: string): boolean {
  return /^(@[a-z][\w.-]*\/)?[a-z][\w.-]*(\/|$)/.test(target) && !builtinModules.includes(target)
}

function packageName(target: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(target)![0]
}

/** What exceeds a limit, or the size that is known, and what is known and does not exceed the limit. */
function beyond(
  sizes: readonly (readonly [name: string, size: number])[],
  limit: number,
  known: Readonly<Record<string, number>>,
): string[] {
  const found = new Map(sizes)
  const grown = sizes
    .filter(([name, size]) => size > (known[name] ?? limit))
    .map(([name, size]) => `${name} has ${size}, at most ${known[name] ?? limit} are allowed`)
  const mended = Object.keys(known)
    .filter((name) => (found.get(name) ?? 0) <= limit)
    .map((name) => `${name} keeps the limit; remove it from the list`)
  return [...grown, ...mended]
}

// Who may import whom. What is not in a package's manifest does not resolve, so holding the manifests holds the imports;
// the scans at the end see what neither the package manager nor the linter can.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')

interface Allowance {
  /** Packages of this workspace. */
  readonly own: readonly string[]
  /** Packages from outside; `@scope/*` stands for a whole scope. */
  readonly outside: readonly string[]
}

const packages: Readonly<Record<string, Allowance>> = {
  '@mcp-host/contracts': { own: [], outside: ['zod'] },
  '@mcp-host/bus': { own: ['@mcp-host/contracts'], outside: ['@nats-io/*', 'zod'] },
  '@mcp-host/service': {
    own: ['@mcp-host/contracts', '@mcp-host/bus', 'mcp-host'],
    outside: ['fastify', 'jsonc-parser', 'pino', 'prom-client', 'zod'],
  },
  '@mcp-host/tool-search': { own: [], outside: ['minisearch'] },
  'mcp-host': {
    own: [],
    outside: ['@modelcontextprotocol/client', 'ajv', 'ajv-formats', 'jsonc-parser', 'zod'],
  },
}

const everyService: Allowance = {
  own: ['@mcp-host/contracts', '@mcp-host/bus', '@mcp-host/service'],
  outside: ['pino', 'prom-client', 'zod'],
}

const services: Readonly<Record<string, Allowance>> = {
  '@mcp-host/gateway': {
    own: [...everyService.own, '@mcp-host/tool-search', 'mcp-host'],
    outside: [
      ...everyService.outside,
      'fastify',
      'fastify-type-provider-zod',
      '@fastify/*',
      'ws',
      '@types/ws',
    ],
  },
  '@mcp-host/orchestrator': {
    own: [...everyService.own, '@mcp-host/tool-search', 'mcp-host'],
    outside: everyService.outside,
  },
  '@mcp-host/mcp-supervisor': {
    own: [...everyService.own, 'mcp-host'],
    outside: everyService.outside,
  },
  '@mcp-host/llm-worker': {
    own: [...everyService.own, '@mcp-host/tool-search'],
    outside: [...everyService.outside, '@ai-sdk/*', 'cockatiel', 'undici'],
  },
}

const table: Readonly<Record<string, Allowance>> = { ...packages, ...services }

/** Serves tests only, so it may know everything; no product code may know it. */
const testkit = '@mcp-host/testkit'

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const manifests: readonly Manifest[] = globSync('{packages,services}/*/package.json', { cwd: root })
  .toSorted()
  .map((file) => JSON.parse(readFileSync(join(root, file), 'utf8')))

/** What packages offer besides their main entry. */
const doors = new Set(
  globSync('{packages/*,services/*,tools}/package.json', { cwd: root })
    .map((file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest)
    .flatMap(({ name, exports = {} }) => Object.keys(exports).map((path) => join(name, path))),
)

describe('the import table', () => {
  test('names every package and service there is', () => {
    const names = manifests.map(({ name }) => name)
    expect(names.toSorted()).toEqual([...Object.keys(table), testkit].toSorted())
  })

  test.each(manifests.filter(({ name }) => name in table))(
    '$name depends on nothing else',
    (manifest) => {
      expect(forbiddenDependencies(manifest)).toEqual([])
    },
  )
})

function forbiddenDependencies(manifest: Manifest): string[] {
  const { own, outside } = table[manifest.name]!
  const forbidden = Object.keys(manifest.dependencies ?? {}).filter(
    (dependency) => !own.includes(dependency) && !matchesAny(outside, dependency),
  )
  // Tests may use what they like, but a service is nobody's library.
  const forbiddenInTests = Object.keys(manifest.devDependencies ?? {}).filter(
    (dependency) => dependency in services,
  )
  return [...forbidden, ...forbiddenInTests].map((dependency) => `${manifest.name} → ${dependency}`)
}

function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('/*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  )
}

interface SourceFile {
  readonly path: string
  readonly lines: readonly string[]
}

const sources: readonly SourceFile[] = globSync('{packages,services}/*/{src,test}/**/*.ts', {
  cwd: root,
})
  .toSorted()
  .map((path) => ({ path, lines: withoutComments(readFileSync(join(root, path), 'utf8')) }))

const productSources = sources.filter(
  ({ path }) => !path.endsWith('.test.ts') && !path.includes('/test/'),
)

describe('what answers MCP clients', () => {
  const places = ['services/gateway/src/mcp/core/', 'services/gateway/src/mcp/web-handler.ts']
  const code = productSources.filter(
    ({ path }) => places.some((each) => path.startsWith(each)) && !path.includes('/__fixtures__/'),
  )

  test('imports nothing that knows Node, the bus or fastify', () => {
    const known = [
      '@mcp-host/contracts',
      '@mcp-host/tool-search',
      'mcp-host/async',
      'mcp-host/json',
      'mcp-host/routing',
      'mcp-host/tool-names',
    ]
    const isForbidden = (_file: SourceFile, target: string): boolean =>
      !/^\.\/(core\/)?[\w-]+\.ts$/.test(target) && !known.includes(target)
    expect(code.length).toBeGreaterThan(1)
    expect(findImports(code, isForbidden)).toEqual([])
  })

  test('uses nothing that only Node has', () => {
    expect(findLines(code, /\b(Buffer|process|setImmediate|global)[.(]/)).toEqual([])
  })
})

/** What each file imports of its own package, by the path from the root. */
const imports = new Map(
  productSources.map(({ path, lines }) => [
    path,
    lines
      .flatMap((line) => Array.from(line.matchAll(/(?:\bfrom|\bimport\(?)\s*['"](\.[^'"]+)['"]/g)))
      .map(([, target]) => join(dirname(path), target!))
      .filter((target) => target.endsWith('.ts')),
  ]),
)

describe('imports go in one direction', () => {
  test('between files', () => {
    expect(findCircles(imports)).toEqual([])
  })

  test('between folders; a file beside them is a folder of its own', () => {
    const roomOf = (path: string): string => {
      const folder = dirname(path)
      return folder.endsWith('/src') ? path : folder
    }
    const rooms = new Map<string, string[]>()
    for (const [path, targets] of imports) {
      const room = roomOf(path)
      const others = targets.map(roomOf).filter((other) => other !== room)
      rooms.set(room, [...(rooms.get(room) ?? []), ...others])
    }
    expect(findCircles(rooms)).toEqual([])
  })

  test('in a supervisor: nothing but its composition imports the handlers', () => {
    const isHandlers = ({ path }: SourceFile, target: string): boolean =>
      /\/handlers\//.test(target) && !path.endsWith('/supervisor.ts')
    const files = productSources.filter(({ path }) => path.startsWith('services/mcp-supervisor/'))
    expect(findImports(files, isHandlers)).toEqual([])
  })

  test('in every service: the main file is imported by none, and the composition by it alone', () => {
    const isAbove = ({ path }: SourceFile, target: string): boolean => {
      const resolved = target.startsWith('.') ? join(dirname(path), target) : ''
      if (/^services\/[\w-]+\/src\/main\.ts$/.test(resolved)) return true
      const composition =
        /^services\/[\w-]+\/src\/(gateway|orchestrator|supervisor|worker)\.ts$/.test(resolved)
      return composition && !path.endsWith('/src/main.ts')
    }
    expect(findImports(productSources, isAbove)).toEqual([])
  })
})

/** Sets of nodes that reach each other, by Tarjan's algorithm for strongly connected components. */
function findCircles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const path: string[] = []
  const circles: string[][] = []
  const visit = (node: string): number => {
    const index = order.size
    order.set(node, index)
    low.set(node, index)
    path.push(node)
    for (const target of graph.get(node) ?? []) {
      const reached = order.has(target)
        ? path.includes(target)
          ? order.get(target)!
          : index
        : visit(target)
      low.set(node, Math.min(low.get(node)!, reached))
    }
    if (low.get(node) === index) {
      const circle = path.splice(path.indexOf(node))
      if (circle.length > 1) circles.push(circle)
    }
    return low.get(node)!
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return circles
}

describe('no source file', () => {
  test('imports from inside another package, except through the doors it declares', () => {
    const deepImport = /^(mcp-host|@mcp-host\/[^/]+)\/./
    const isForbidden = (_file: SourceFile, target: string): boolean =>
      deepImport.test(target) && !doors.has(target)
    expect(findImports(sources, isForbidden)).toEqual([])
  })

  test('reaches into another package by a relative path', () => {
    const home = (path: string): string => path.split('/').slice(0, 2).join('/')
    const leavesHome = ({ path }: SourceFile, target: string): boolean =>
      target.startsWith('.') && !resolve('/', dirname(path), target).startsWith(`/${home(path)}/`)
    expect(findImports(sources, leavesHome)).toEqual([])
  })

  test('imports the index of its own folder', () => {
    const isOwnIndex = (_file: SourceFile, target: string): boolean => target === './index.ts'
    // Tests may come in by the front door.
    expect(findImports(productSources, isOwnIndex)).toEqual([])
  })

  test('exports a default', () => {
    expect(findLines(sources, /^\s*export\s+default\b|\bas\s+default\b/)).toEqual([])
  })

  test('exports everything another file has', () => {
    expect(findLines(sources, /^\s*export\s+\*/)).toEqual([])
  })

  test('outside the tests knows the testkit', () => {
    const code = productSources.filter(({ path }) => !path.startsWith('packages/testkit/'))
    expect(findImports(code, (_file, target) => target === testkit)).toEqual([])
  })

  test('outside the contracts writes a subject as a string', () => {
    const subject = /['"`](s\.|llm\.gen|(tool|gen|live)\.[\w{$*>])/
    const code = productSources.filter(({ path }) => !path.startsWith('packages/contracts/'))
    expect(findLines(code, subject)).toEqual([])
  })
})

/** Lines that match, as `path:line text`. */
function findLines(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) =>
      pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [],
    ),
  )
}

/** Imports that are forbidden, as `path:line → target`. */
function findImports(
  files: readonly SourceFile[],
  isForbidden: (file: SourceFile, target: string) => boolean,
): string[] {
  const specifier = /(?:\bfrom|\bimport\(?)\s*['"]([^'"]+)['"]/g
  return files.flatMap((file) =>
    file.lines.flatMap((line, index) =>
      [...line.matchAll(specifier)]
        .map((match) => match[1]!)
        .filter((target) => isForbidden(file, target))
        .map((target) => `${file.path}:${index + 1} → ${target}`),
    ),
  )
}

/** The lines of a text with its comments blanked, so that line numbers stay true. */
function withoutComments(text: string): string[] {
  const blank = (comment: string): string => comment.replaceAll(/[^\n]/g, '')
  return text
    .replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, blank)
    .replaceAll(/(^|\s)\/\/.*$/gm, '$1')
    .split('\n')
}

// Allowed imports between packages. An import that the manifest of a package lacks does not resolve, so it is enough
// to check the manifests. The scans at the end find what neither the package manager nor the linter can find.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SourceFile } from './source-graph.ts'
import { allSources, isProduct, root } from './source-graph.ts'

interface Allowance {
  /** Packages of this workspace. */
  readonly own: readonly string[]
  /** Packages from outside; `@scope/*` stands for a whole scope. */
  readonly outside: readonly string[]
}

const packages: Readonly<Record<string, Allowance>> = {
  '@mcp-host/contracts': { own: [], outside: ['zod'] },
  '@mcp-host/async': { own: [], outside: [] },
  '@mcp-host/json': { own: [], outside: [] },
  '@mcp-host/mcp': { own: ['@mcp-host/json'], outside: [] },
  '@mcp-host/mcp-json': {
    own: [
      '@mcp-host/async',
      '@mcp-host/json',
      '@mcp-host/mcp',
      '@mcp-host/process',
      '@mcp-host/upstream',
    ],
    outside: ['jsonc-parser', 'yaml', 'zod'],
  },
  '@mcp-host/process': { own: ['@mcp-host/async'], outside: [] },
  '@mcp-host/upstream': {
    own: ['@mcp-host/async', '@mcp-host/json', '@mcp-host/mcp', '@mcp-host/process'],
    outside: ['@modelcontextprotocol/client', 'ajv', 'ajv-formats', 'ws', '@types/ws', 'zod'],
  },
  '@mcp-host/built-in': {
    own: ['@mcp-host/async', '@mcp-host/json', '@mcp-host/upstream'],
    outside: ['@modelcontextprotocol/server', 'mdream', 'zod'],
  },
  '@mcp-host/audit': { own: ['@mcp-host/contracts', '@mcp-host/policy'], outside: ['zod'] },
  '@mcp-host/auth': {
    own: ['@mcp-host/bus', '@mcp-host/contracts'],
    outside: ['jose', 'zod'],
  },
  '@mcp-host/bus': {
    own: ['@mcp-host/contracts', '@mcp-host/json'],
    outside: ['@nats-io/*', 'zod'],
  },
  '@mcp-host/limits': { own: [], outside: [] },
  '@mcp-host/policy': {
    own: ['@mcp-host/contracts', '@mcp-host/limits', '@mcp-host/upstream'],
    outside: ['zod'],
  },
  '@mcp-host/service': {
    own: [
      '@mcp-host/async',
      '@mcp-host/json',
      '@mcp-host/audit',
      '@mcp-host/contracts',
      '@mcp-host/bus',
      '@mcp-host/limits',
      '@mcp-host/policy',
      '@mcp-host/process',
      '@mcp-host/upstream',
    ],
    outside: ['fastify', 'jsonc-parser', 'pino', 'prom-client', 'undici', 'yaml', 'zod'],
  },
  '@mcp-host/session-state': { own: ['@mcp-host/contracts'], outside: [] },
  '@mcp-host/client': { own: ['@mcp-host/contracts'], outside: [] },
  '@mcp-host/web': {
    own: ['@mcp-host/client', '@mcp-host/mcp'],
    outside: [
      '@mermaid-js/tiny',
      'highlight.js',
      'marked',
      'react',
      'react-dom',
      'remend',
      'temml',
      'virtua',
    ],
  },
  '@mcp-host/tool-search': { own: [], outside: ['minisearch'] },
  'mcp-host': {
    own: [],
    outside: [
      '@modelcontextprotocol/client',
      'ajv',
      'ajv-formats',
      'jsonc-parser',
      'ws',
      '@types/ws',
      'yaml',
      'zod',
    ],
  },
}

const everyService: Allowance = {
  own: ['@mcp-host/contracts', '@mcp-host/bus', '@mcp-host/service'],
  outside: ['pino', 'prom-client', 'zod'],
}

const services: Readonly<Record<string, Allowance>> = {
  '@mcp-host/mcp-endpoint': {
    own: [
      '@mcp-host/async',
      '@mcp-host/contracts',
      '@mcp-host/json',
      '@mcp-host/limits',
      '@mcp-host/mcp',
      '@mcp-host/policy',
      '@mcp-host/tool-search',
      '@mcp-host/upstream',
    ],
    outside: ['@modelcontextprotocol/server', 'rolldown', 'workerd'],
  },
  '@mcp-host/mcp-bus': {
    own: [
      ...everyService.own,
      '@mcp-host/async',
      '@mcp-host/audit',
      '@mcp-host/json',
      '@mcp-host/mcp',
      '@mcp-host/mcp-endpoint',
      '@mcp-host/process',
      '@mcp-host/session-state',
      '@mcp-host/upstream',
    ],
    outside: ['prom-client'],
  },
  '@mcp-host/gateway': {
    own: [
      ...everyService.own,
      '@mcp-host/async',
      '@mcp-host/json',
      '@mcp-host/mcp',
      '@mcp-host/audit',
      '@mcp-host/auth',
      '@mcp-host/limits',
      '@mcp-host/policy',
      '@mcp-host/session-state',
      '@mcp-host/mcp-bus',
      '@mcp-host/mcp-endpoint',
      '@mcp-host/upstream',
    ],
    outside: [
      ...everyService.outside,
      'fastify',
      'fastify-type-provider-zod',
      '@fastify/*',
      'jose',
      'oidc-provider',
      'openid-client',
      'ws',
      '@types/ws',
    ],
  },
  '@mcp-host/orchestrator': {
    own: [
      ...everyService.own,
      '@mcp-host/json',
      '@mcp-host/mcp',
      '@mcp-host/audit',
      '@mcp-host/policy',
      '@mcp-host/session-state',
      '@mcp-host/tool-search',
      '@mcp-host/upstream',
    ],
    outside: everyService.outside,
  },
  '@mcp-host/mcp-supervisor': {
    own: [
      ...everyService.own,
      '@mcp-host/mcp-bus',
      '@mcp-host/async',
      '@mcp-host/json',
      '@mcp-host/mcp',
      '@mcp-host/process',
      '@mcp-host/audit',
      '@mcp-host/limits',
      '@mcp-host/mcp-json',
      '@mcp-host/built-in',
      '@mcp-host/upstream',
    ],
    outside: [...everyService.outside, 'jose'],
  },
  '@mcp-host/llm-worker': {
    own: [
      ...everyService.own,
      '@mcp-host/async',
      '@mcp-host/json',
      '@mcp-host/mcp',
      '@mcp-host/process',
    ],
    outside: [...everyService.outside, '@ai-sdk/*', 'cockatiel', 'eventsource-parser', 'undici'],
  },
}

const table: Readonly<Record<string, Allowance>> = { ...packages, ...services }

/** For tests only: they may import any package, and no product code may import them. */
const testkits = ['@mcp-host/mcp-testkit', '@mcp-host/testkit']

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const manifests: readonly Manifest[] = globSync('{packages,services}/*/package.json', { cwd: root })
  .toSorted()
  .map((file) => JSON.parse(readFileSync(join(root, file), 'utf8')))

/** Entry points of packages besides the main one. */
const entryPoints = new Set(
  globSync('{packages/*,services/*,tools}/package.json', { cwd: root })
    .map((file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest)
    .flatMap(({ name, exports = {} }) => Object.keys(exports).map((path) => join(name, path))),
)

describe('the import table', () => {
  test('the import table names every package and service', () => {
    const names = manifests.map(({ name }) => name)
    expect(names.toSorted()).toEqual([...Object.keys(table), ...testkits].toSorted())
  })

  test.each(manifests.filter(({ name }) => name in table))(
    '$name has only the dependencies of the import table',
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
  // Tests may import any package except services.
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

const sources = allSources.filter(({ path }) => /^(packages|services)\//.test(path))
const productSources = sources.filter(isProduct)

describe('what answers MCP clients', () => {
  const code = productSources.filter(({ path }) => path.startsWith('packages/mcp-endpoint/src/'))

  test('the endpoint imports nothing of Node', () => {
    // Its manifest names the packages; of `upstream` it may have the part without Node.
    const isForbidden = (_file: SourceFile, target: string): boolean =>
      target.startsWith('node:') || target === '@mcp-host/upstream'
    expect(code.length).toBeGreaterThan(1)
    expect(findImports(code, isForbidden)).toEqual([])
  })

  test('the endpoint uses no globals of Node', () => {
    expect(findLines(code, /\b(Buffer|process|setImmediate|global)[.(]/)).toEqual([])
  })
})

describe('import directions', () => {
  test('in a supervisor: one file answers everything on the bus', () => {
    const files = productSources.filter(({ path }) =>
      /^(services\/mcp-supervisor\/|packages\/mcp-bus\/src\/(?!call\/))/.test(path),
    )
    const lines = findLines(files, /\bbus\.(serve|serveOpaque|listen)\(/)
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.filter((line) => !line.includes('/src/subjects.ts:'))).toEqual([])
  })

  test('in the gateway: what the entrances share imports none of them', () => {
    const isEntrance = (_file: SourceFile, target: string): boolean =>
      /^\.\.\/(http|mcp|socket)\//.test(target)
    const files = productSources.filter(({ path }) => path.startsWith('services/gateway/src/edge/'))
    expect(files.length).toBeGreaterThan(1)
    expect(findImports(files, isEntrance)).toEqual([])
  })

  test('the main file of a service is not imported, and its composition only by the main file', () => {
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

describe('forbidden imports and exports', () => {
  test('no file imports another package except by its entry points', () => {
    const deepImport = /^(mcp-host|@mcp-host\/[^/]+)\/./
    const isForbidden = (_file: SourceFile, target: string): boolean =>
      deepImport.test(target) && !entryPoints.has(target)
    expect(findImports(sources, isForbidden)).toEqual([])
  })

  test('no file imports another package by a relative path', () => {
    const home = (path: string): string => path.split('/').slice(0, 2).join('/')
    const leavesHome = ({ path }: SourceFile, target: string): boolean =>
      target.startsWith('.') && !resolve('/', dirname(path), target).startsWith(`/${home(path)}/`)
    expect(findImports(sources, leavesHome)).toEqual([])
  })

  test('no file imports the index of its own folder', () => {
    const isOwnIndex = (_file: SourceFile, target: string): boolean => target === './index.ts'
    // Tests may import the index of their folder.
    expect(findImports(productSources, isOwnIndex)).toEqual([])
  })

  test('no file has a default export', () => {
    expect(findLines(sources, /^\s*export\s+default\b|\bas\s+default\b/)).toEqual([])
  })

  test('no file re-exports all of another', () => {
    expect(findLines(sources, /^\s*export\s+\*/)).toEqual([])
  })

  test('no product file imports a testkit', () => {
    const code = productSources.filter(({ path }) => !/^packages\/(mcp-)?testkit\//.test(path))
    expect(findImports(code, (_file, target) => testkits.includes(target))).toEqual([])
  })

  test('no file outside the protocol has an error code of JSON-RPC as a number, or a key of its own', () => {
    const code = allSources.filter(
      (file) =>
        isProduct(file) &&
        /^(packages|services|tools)\//.test(file.path) &&
        !/^packages\/(mcp\/|(mcp-)?testkit\/fixtures\/)/.test(file.path),
    )
    expect(findLines(code, /-32_?[0-9]{3}\b|io\.modelcontextprotocol\//)).toEqual([])
  })

  test('no file outside the contracts has a subject as a string', () => {
    const subject = /['"`](s\.|llm\.gen|(tool|gen|live)\.[\w{$*>])/
    const code = productSources.filter(({ path }) => !path.startsWith('packages/contracts/'))
    expect(findLines(code, subject)).toEqual([])
  })
})

/** Matching lines as `path:line text`. */
function findLines(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) =>
      pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [],
    ),
  )
}

/** Forbidden imports as `path:line → target`. */
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

// References of documents to files, commands and contracts.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CONTRACTS } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { allSources } from './source-graph.ts'

const root = join(import.meta.dirname, '..')
const documents = ['*.md', 'docs/**/*.md', '{packages,services}/*/*.md', '*/README.md'].flatMap(
  (pattern) => globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }),
)
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('every link of a document to a file has a target', () => {
  const dead = documents.flatMap((path) =>
    Array.from(read(path).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g), ([, link = '']) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => !existsSync(join(root, dirname(path), link)))
      .map((link) => `${path}: ${link}`),
  )
  expect(dead).toEqual([])
})

test('every `npm run` of a document names a script of the repository', () => {
  const scripts = new Set(Object.keys(manifest.scripts))
  const unknown = documents.flatMap((path) =>
    Array.from(read(path).matchAll(/\bnpm run (?:-s )?([a-z:-]+)/g), ([, name = '']) => name)
      .filter((name) => !scripts.has(name))
      .map((name) => `${path}: npm run ${name}`),
  )
  expect(unknown).toEqual([])
})

test('every contract names the services that import it as its senders and receivers', () => {
  const importers = new Map<string, Set<string>>()
  // What `packages/service` sends, every service sends. Each end of `packages/mcp-bus` is in one service.
  const usersOf = (file: string): string[] => {
    const [folder, name = ''] = file.split('/')
    if (folder === 'services') return [name]
    if (name === 'service') return ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker']
    return [file.startsWith('packages/mcp-bus/src/call/') ? 'gateway' : 'mcp-supervisor']
  }
  const folders = ['services/*/src/**/*.ts', 'packages/{mcp-bus,service}/src/**/*.ts']
  for (const file of globSync(folders, { cwd: root, exclude: ['**/*.test.ts'] })) {
    const users = usersOf(file)
    const imports = read(file).matchAll(/^import \{([^}]*)\} from '@mcp-host\/contracts'/gm)
    for (const [, list = ''] of imports) {
      for (const name of list.match(/\w+(?= as )|\w+/g) ?? []) {
        importers.set(name, new Set([...(importers.get(name) ?? []), ...users]))
      }
    }
  }
  const wrong = Object.entries(CONTRACTS).flatMap(([name, { kind, subject, from, to }]) => {
    const imported = importers.get(name) ?? new Set()
    const declared = new Set<string>([...from, ...to])
    const undeclared = [...imported].filter((service) => !declared.has(service))
    // Facts and live text of a session go through the session log of the bus, not through imported contracts.
    const isOfSession = kind === 'event' && /^(s|live)\./.test(subject)
    const unused = [...declared].filter((service) => {
      return !isOfSession && service !== 'tools' && !imported.has(service)
    })
    return [...undeclared, ...unused].map((service) => `${name}: ${service}`)
  })
  expect(wrong).toEqual([])
})

/** Files and folders that a text names by their whole path in code spans. */
function pathsIn(text: string): string[] {
  const spans = text.matchAll(/`((?:chaos|docs|fuzz|packages|services|test|tools)\/[^`\s]*)`/g)
  return Array.from(spans, ([, path = '']) => path)
}

function missing(paths: readonly string[]): string[] {
  return paths.filter(
    (path) => globSync(path.replaceAll(/<\w+>/g, '*'), { cwd: root }).length === 0,
  )
}

test('the jobs of the continuous integration name tests that exist', () => {
  const named = read('.github/workflows/ci.yml').matchAll(/\S+\.test\.ts/g)
  const paths = Array.from(named, ([path]) => path)
  expect(paths).not.toEqual([])
  expect(missing(paths)).toEqual([])
})

test('every row of the common changes names files that exist', () => {
  const rows = read('CONTRIBUTING.md')
    .split('\n')
    .filter((line) => /^\| (a|an) /.test(line))
    .map((line) => ({ change: line.split('|')[1]?.trim() ?? '', paths: pathsIn(line) }))
  const wrong = rows.flatMap(({ change, paths }) =>
    paths.length === 0
      ? [`${change}: no file`]
      : missing(paths).map((path) => `${change}: ${path} does not exist`),
  )
  expect(wrong).toEqual([])
  expect(rows.map(({ change }) => change)).toEqual(
    expect.arrayContaining([
      'a bus message',
      'a model provider',
      'a socket frame to the client',
      'a placement policy',
      'a REST route',
      'a setting',
      'a metric',
      'an MCP method',
      'a unit test',
    ]),
  )
})

test.each([
  ['docs/internals/mcp-tool-call.md', 28],
  ['docs/internals/chat-message.md', 36],
])('%s names at most %i existing files in order, each once', (document, limit) => {
  const text = read(document)
  const steps = Array.from(text.matchAll(/^(\d+)\. `([^`]+)`/gm), ([, number, path = '']) => {
    return { number: Number(number), path }
  })
  const paths = steps.map(({ path }) => path)
  expect(missing(pathsIn(text))).toEqual([])
  expect(steps.map(({ number }) => number)).toEqual(steps.map((_, index) => index + 1))
  expect(paths).toEqual([...new Set(paths)])
  expect(paths.length).toBeGreaterThan(10)
  expect(paths.length).toBeLessThanOrEqual(limit)
})

test('the index of decisions lists every page in order, and each has the same parts', () => {
  const pages = globSync('docs/decisions/[0-9]*.md', { cwd: root }).toSorted()
  const index = pages.map((page) => {
    const [title = ''] = read(page).split('\n')
    return `- ${basename(page).slice(0, 4)} [${title.slice(2)}](${basename(page)})`
  })
  expect(
    read('docs/decisions/README.md')
      .split('\n')
      .filter((line) => line.startsWith('- ')),
  ).toEqual(index)
  for (const page of pages) {
    const parts = Array.from(read(page).matchAll(/^## (.*)$/gm), ([, part]) => part)
    expect({ page, parts }).toEqual({ page, parts: ['Context', 'Decision', 'Consequences'] })
  }
})

const packages = globSync('{packages,services}/*/package.json', { cwd: root })
  .map(dirname)
  // The README of the library is for its users.
  .filter((place) => place !== 'packages/mcp-host')
  .concat('bench', 'chaos', 'compat', 'conformance', 'fuzz', 'tools')

test.each(packages)(
  '%s has a README that names its entry file, its folders and its tests',
  (place) => {
    const text = read(`${place}/README.md`)
    // The README of the library has its folders in a diagram.
    if (place === 'packages/mcp-host') return
    const named = Array.from(text.matchAll(/^- `([\w-]+)\/`/gm), ([, folder]) => folder)
    const isInSource = existsSync(join(root, place, 'src'))
    const folders = globSync(isInSource ? `${place}/src/*/` : `${place}/*/`, { cwd: root })
      .map((folder) => basename(folder))
      .filter((folder) => !['node_modules', '__fixtures__'].includes(folder))
    expect(new Set(named)).toEqual(new Set(folders))
    expect(text).toContain('**Entry file**')
    expect(text).toContain('**Tests**')
  },
)

const NAMES_OF_A_SERVER =
  /^\| (placed server|hosted server|caller upstreams|upstream|instance|connection|endpoint|placement policy) /

test('the names of the glossary for a running server are those of the sources', () => {
  const rows = read('docs/glossary.md').split('\n')
  const names = rows.flatMap((row) => NAMES_OF_A_SERVER.exec(row)?.[1] ?? [])
  expect(names).toHaveLength(8)
  const typeOf = (name: string): string =>
    name.replaceAll(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase())
  const lines = allSources.flatMap((source) => source.lines)
  const isDeclared = (name: string): boolean => {
    const declaration = new RegExp(`^export (class|interface|type) ${typeOf(name)}\\b`)
    return lines.some((line) => declaration.test(line))
  }
  expect(names.filter((name) => !isDeclared(name))).toEqual([])
})

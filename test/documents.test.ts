// What the documents name must be there.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CONTRACTS } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }

const root = join(import.meta.dirname, '..')
const documents = ['*.md', 'docs/**/*.md', '{packages,services}/*/*.md', '*/README.md'].flatMap(
  (pattern) => globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }),
)
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

test('every link of a document to a file leads to one', () => {
  const dead = documents.flatMap((path) =>
    Array.from(read(path).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g), ([, link = '']) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => !existsSync(join(root, dirname(path), link)))
      .map((link) => `${path}: ${link}`),
  )
  expect(dead).toEqual([])
})

test('every `npm run` of a document is a command of the repository', () => {
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
  for (const file of globSync('services/*/src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] })) {
    const imports = read(file).matchAll(/^import \{([^}]*)\} from '@mcp-host\/contracts'/gm)
    for (const [, list = ''] of imports) {
      for (const name of list.match(/\w+(?= as )|\w+/g) ?? []) {
        const services = importers.get(name) ?? new Set()
        importers.set(name, services.add(file.split('/')[1] ?? ''))
      }
    }
  }
  const wrong = Object.entries(CONTRACTS).flatMap(([name, { kind, subject, from, to }]) => {
    const imported = importers.get(name) ?? new Set()
    const declared = new Set<string>([...from, ...to])
    const undeclared = [...imported].filter((service) => !declared.has(service))
    // Facts and live text of a session are read and written through the session log of the bus.
    const isOfSession = kind === 'event' && /^(s|live)\./.test(subject)
    const unused = [...declared].filter((service) => {
      return !isOfSession && service !== 'tools' && !imported.has(service)
    })
    return [...undeclared, ...unused].map((service) => `${name}: ${service}`)
  })
  expect(wrong).toEqual([])
})

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import manifest from '../../packages/mcp-host/package.json' with { type: 'json' }
import type { Declaration } from './read-declarations.ts'
import { readDeclarations } from './read-declarations.ts'

const PACKAGES = join(import.meta.dirname, '../../packages')

const HEAD = `# API of mcp-host

Made from the code by \`npm run generate\`; do not edit. Each entry has the first sentence of its description; the whole is in the
types, which editors show. The [README](README.md) has examples.
`

const KINDS = ['class', 'function', 'error', 'interface', 'type', 'const']

/** Every export of the library with its signature, as a document. */
export function libraryReference(): string {
  const entries = Object.entries(manifest.exports).filter(([, file]) => file.endsWith('.ts'))
  const sections = entries.map(([path, file]) => {
    const { own, foreign } = exportsOf(join(PACKAGES, 'mcp-host', file))
    const shown = own.toSorted((one, other) => place(one) - place(other)).map(section)
    const others = Object.entries(foreign).map(([from, names]) => {
      return `\nFrom \`${from}\`: ${names.map((name) => `\`${name}\``).join(', ')}.\n`
    })
    return [`\n## \`${join(manifest.name, path)}\`\n`, ...shown, ...others].join('')
  })
  return HEAD + sections.join('')
}

function place({ kind, name }: Declaration): number {
  return KINDS.indexOf(kind === 'class' && name.endsWith('Error') ? 'error' : kind)
}

interface Exports {
  readonly own: readonly Declaration[]
  /** Names by the package that exports them. */
  readonly foreign: Readonly<Record<string, readonly string[]>>
}

/** The exports of a module, declared there, in another module of the package, or in a part of it. */
function exportsOf(file: string): Exports {
  const text = readFileSync(file, 'utf8')
  const own = [...readDeclarations(text)]
  const foreign: Record<string, string[]> = {}
  for (const [, list = '', from = ''] of text.matchAll(
    /^export (?:type )?\{([^}]*)\} from '(.*)'/gm,
  )) {
    const names = list.split(',').map((name) => name.trim().replace(/^type /, ''))
    const known = names.filter((name) => name !== '')
    const [, part, entry = 'index'] = /^@mcp-host\/([^/]+)(?:\/(.+))?/.exec(from) ?? []
    if (!from.startsWith('.') && part === undefined) {
      foreign[from] = known
      continue
    }
    const declared =
      part === undefined
        ? readDeclarations(readFileSync(join(dirname(file), from), 'utf8'))
        : exportsOf(join(PACKAGES, part, 'src', `${entry}.ts`)).own
    for (const name of known) {
      // A schema and its type share a name: the type is what callers see.
      const found = declared.filter((each) => each.name === name)
      const [first] = found.toSorted((a, b) => rank(a) - rank(b))
      if (first === undefined) throw new Error(`${file} exports ${name}, which ${from} does not`)
      own.push(first)
    }
  }
  return { own, foreign }
}

function rank({ kind }: Declaration): number {
  return kind === 'const' ? 1 : 0
}

function section({ kind, name, signature, summary, members }: Declaration): string {
  const title = `\n### ${name}\n\n${summary === '' ? '' : `${summary}\n\n`}`
  const hasMembers = kind === 'class' || kind === 'interface'
  const code = hasMembers ? '' : `\`\`\`ts\n${signature}\n\`\`\`\n`
  const list = members.map((member) => {
    return `- \`${member.signature}\`${member.summary === '' ? '' : `: ${member.summary}`}\n`
  })
  const extended =
    hasMembers && / (extends|implements) /.test(signature) ? `\`${signature}\`\n` : ''
  const gap = extended !== '' && list.length > 0 ? '\n' : ''
  return title + code + extended + gap + list.join('')
}

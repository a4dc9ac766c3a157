import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const root = join(import.meta.dirname, '..')

/** A file with its lines, of which comments are blank. */
export interface SourceFile {
  /** From the root of the workspace. */
  readonly path: string
  readonly lines: readonly string[]
}

/** The folders that hold packages: each of them, or each of their folders. */
const GROUPS = ['packages', 'services']
const LABS = ['bench', 'chaos', 'compat', 'conformance', 'fuzz']

/** All sources of the workspace, tests included. */
export const allSources: readonly SourceFile[] = globSync(
  [
    '{packages,services}/*/{src,test}/**/*.{ts,tsx}',
    `{tools,test,${LABS.join()}}/**/*.{ts,tsx,mjs}`,
    'packages/testkit/fixtures/**/*.ts',
  ],
  { cwd: root, exclude: (path) => path.includes('node_modules') },
)
  .toSorted()
  .map((path) => ({ path, lines: withoutComments(readFileSync(join(root, path), 'utf8')) }))

/** Whether a file is neither a test nor belongs to tests alone. */
export function isProduct({ path }: SourceFile): boolean {
  return !/\.test\.(ts|tsx|mjs)$/.test(path) && !/(^|\/)(test|__fixtures__)\//.test(path)
}

/** The folder of the manifest that a file belongs to: a package, a service, the tools or a lab. */
export function packageOf(path: string): string {
  const [first = '', second = ''] = path.split('/')
  return GROUPS.includes(first) ? `${first}/${second}` : first
}

/** The first folder of a package that a file is in. A file beside such folders is a room of its own. */
export function roomOf(path: string): string {
  const home = `${packageOf(path)}/`
  const [first = '', second = ''] = path.slice(home.length).split('/')
  return first === 'src' ? `${home}src/${second}` : home + first
}

/** What the files import, as it stands in the source. */
export function importsOf({ lines }: SourceFile): string[] {
  const specifier = /(?:\bfrom|\bimport\(?)\s*['"]([^'"]+)['"]/g
  return lines.flatMap((line) => Array.from(line.matchAll(specifier), ([, target]) => target!))
}

/** Which files import which, by relative paths and by the entry points of packages. */
export function importGraph(
  files: readonly SourceFile[],
  entryPoints: ReadonlyMap<string, string>,
): Map<string, string[]> {
  const known = new Set(files.map(({ path }) => path))
  const resolved = (path: string, target: string): string =>
    target.startsWith('.') ? join(dirname(path), target) : (entryPoints.get(target) ?? '')
  return new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .map((target) => resolved(file.path, target))
        .filter((path) => known.has(path)),
    ]),
  )
}

/** The same for folders or packages, where `of` says in which one a file is. */
export function grouped(
  graph: ReadonlyMap<string, readonly string[]>,
  of: (path: string) => string,
): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const [path, targets] of graph) {
    const group = of(path)
    const others = targets.map(of).filter((other) => other !== group)
    groups.set(group, [...(groups.get(group) ?? []), ...others])
  }
  return groups
}

/** Sets of nodes that reach each other, by Tarjan's algorithm for strongly connected components. */
export function findCircles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
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
      if (circle.length > 1) circles.push(circle.toSorted())
    }
    return low.get(node)!
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return circles.toSorted(([one = ''], [other = '']) => one.localeCompare(other))
}

/** The lines of a text with blanked comments, which keeps line numbers. */
function withoutComments(text: string): string[] {
  const blank = (comment: string): string => comment.replaceAll(/[^\n]/g, '')
  return text
    .replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, blank)
    .replaceAll(/(^|\s)\/\/.*$/gm, '$1')
    .split('\n')
}

import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { OutputChunk } from 'rolldown'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..', '..')

const CONVERTER = 'mdream/wasm/mdream_edge_bg.wasm'

/** Programs of threads. Each must be beside the code that starts it, with the files that it reads. */
const THREADS = [
  {
    program: 'packages/upstream/src/arguments/schema-thread.ts',
    starter: 'packages/upstream/src/arguments/schema-threads.ts',
    files: [],
  },
  {
    program: 'packages/built-in/src/web/page/page-thread.ts',
    starter: 'packages/built-in/src/web/page/convert-page.ts',
    files: [createRequire(join(root, 'packages/built-in/package.json')).resolve(CONVERTER)],
  },
]

/** The folder of the files that a program loads when it needs them. */
const PARTS = 'parts'

/** What a build may leave in its folder. */
export const BUILT = new Set([
  ...['main.js', 'schema-thread.js'].flatMap((file) => [file, `${file}.map`]),
  'package.json',
  PARTS,
  'web',
])

interface BundleOptions {
  /** Twice the size of the programs. Default: true. */
  readonly sourcemap?: boolean
}

/**
 * Writes a program and all that it imports to `main.js`, and what it imports later, if at all, to a folder beside it.
 * Resolves with its size in bytes.
 */
export async function bundle(
  entry: string,
  folder: string,
  options: BundleOptions = {},
): Promise<number> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const parts = await writeBundle(entry, join(folder, 'main.js'), options)
  for (const { program, starter, files } of THREADS) {
    const part = parts.find(({ moduleIds }) => moduleIds.includes(join(root, starter)))
    if (part === undefined) continue
    const beside = join(folder, dirname(part.fileName))
    await writeBundle(program, join(beside, `${basename(program, '.ts')}.js`), options)
    for (const file of files) await copyFile(file, join(beside, basename(file)))
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n')
  return parts.reduce((bytes, { code }) => bytes + Buffer.byteLength(code), 0)
}

async function writeBundle(
  entry: string,
  file: string,
  { sourcemap = true }: BundleOptions,
): Promise<OutputChunk[]> {
  await using build = await rolldown({
    input: join(root, entry),
    cwd: root,
    platform: 'node',
    resolve: {
      // Its main file loads its parts in a way that bundlers cannot follow.
      alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    },
    // A package creates functions with it, and uses nothing of the bundle there.
    checks: { eval: false },
    // A package that is not found now would be missing where the program runs.
    onLog: (level, log, handle) => handle(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log),
    // Optional parts of ws, which does without them; Vite is used from source alone.
    external: ['bufferutil', 'utf-8-validate', 'vite'],
  })
  const { output } = await build.write({
    dir: dirname(file),
    entryFileNames: basename(file),
    chunkFileNames: `${PARTS}/[name]-[hash].js`,
    format: 'esm',
    sourcemap,
    // One character beyond Latin-1 doubles the memory that the text of the program takes.
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  return output.filter((each) => each.type === 'chunk')
}

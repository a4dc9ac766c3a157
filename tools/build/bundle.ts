import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..', '..')

/** The package starts this program as a thread; it must be beside the code that starts it. */
const THREAD = 'packages/mcp-host/src/arguments/schema-thread.ts'
const THREAD_STARTER = join(root, 'packages/mcp-host/src/arguments/schema-threads.ts')

/** What a build may leave in its folder. */
export const BUILT = new Set([
  ...['main.js', 'schema-thread.js'].flatMap((file) => [file, `${file}.map`]),
  'package.json',
  'web',
])

/** Writes a program and all that it imports into one file, `main.js`. Resolves with its size in bytes. */
export async function bundle(entry: string, folder: string): Promise<number> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const main = await writeBundle(entry, join(folder, 'main.js'))
  if (main.moduleIds.includes(THREAD_STARTER)) {
    await writeBundle(THREAD, join(folder, 'schema-thread.js'))
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n')
  return main.bytes
}

async function writeBundle(
  entry: string,
  file: string,
): Promise<{ readonly bytes: number; readonly moduleIds: readonly string[] }> {
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
    // Optional parts of ws, which does without them.
    external: ['bufferutil', 'utf-8-validate'],
  })
  const { output } = await build.write({
    file,
    format: 'esm',
    sourcemap: true,
    codeSplitting: false,
    // One character beyond Latin-1 doubles the memory that the text of the program takes.
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  const [chunk] = output
  return { bytes: Buffer.byteLength(chunk.code), moduleIds: chunk.moduleIds }
}

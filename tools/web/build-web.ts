// The web UI, built once for each state of its sources.
import { globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { cacheFolder, installOnce } from '../provision/cache.mjs'
import { sourceHash } from '../provision/source-hash.mjs'
import { root } from '../root.ts'

const web = join(root, 'packages', 'web')

/** What the built files depend on. */
const SOURCES = [
  'packages/web/index.html',
  'packages/web/package.json',
  'packages/web/src',
  'packages/web/public',
  'packages/client/src',
  'tools/web/build-web.ts',
  'pnpm-lock.yaml',
]

const COMPRESSIBLE = '**/*.{html,js,css,svg}'

/** Files whose best compression takes seconds, and makes them a twentieth smaller. */
const LARGE_BYTES = 1_000_000

/** Folder of the built files for the present sources. It may not exist yet. */
export function webFolder(): string {
  return join(cacheFolder(), 'web', sourceHash(root, SOURCES))
}

/** Builds the web UI into a folder of `webFolder` unless it is there, with compressed copies of each file. */
export async function buildWeb(folder: string): Promise<void> {
  await installOnce(folder, async (draft) => {
    // Loaded only where there is something to build: it takes half a second.
    const { build } = await import('vite')
    await build({
      configFile: false,
      root: web,
      logLevel: 'error',
      // Also where the environment is that of tests: React would be its development version.
      oxc: { jsx: { runtime: 'automatic', development: false } },
      // The thread loads the languages as it needs them.
      worker: { format: 'es' },
      define: { 'process.env.NODE_ENV': JSON.stringify('production') },
      build: {
        outDir: draft,
        emptyOutDir: true,
        target: 'es2023',
        modulePreload: { polyfill: false },
        // A data: URL is no script or style of the policy.
        assetsInlineLimit: 0,
        // The first load has two files: many small ones would take a tenth of a second more.
        rolldownOptions: {
          output: {
            codeSplitting: {
              groups: [
                { name: 'libraries', tags: ['$initial'], test: /node_modules/ },
                { name: 'app', tags: ['$initial'] },
              ],
            },
          },
        },
      },
    })
    const files = globSync(COMPRESSIBLE, { cwd: draft })
    await Promise.all(files.map((file) => compress(join(draft, file))))
  })
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file)
  const params = {
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    [constants.BROTLI_PARAM_QUALITY]: content.length > LARGE_BYTES ? 9 : 11,
  }
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }))
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
}

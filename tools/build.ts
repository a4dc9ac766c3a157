// `npm run build`: the programs of the host as plain JavaScript in dist/, which need Node and nothing else.
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { addWeb } from './build/add-web.ts'
import { BUILT, bundle } from './build/bundle.ts'
import { PROGRAMS } from './build/programs.ts'
import { runCommand, UsageError } from './command-line.ts'
import { stopWithLauncher } from './lifeline.ts'

const usage = `Usage: npm run build                  write dist/<program> for each service and for the commands of operators
       npm run build -- gateway       for some of them

  --out FOLDER   default: dist
`

interface Options {
  readonly names: readonly string[]
  readonly out: string
}

function parse(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' }, out: { type: 'string', default: 'dist' } },
  })
  if (values.help === true) return undefined
  const all = Array.from(PROGRAMS.keys())
  return { names: positionals.length > 0 ? positionals : all, out: resolve(values.out) }
}

async function run({ names, out }: Options): Promise<number> {
  await Promise.all(names.map((name) => build(name, join(out, name))))
  return 0
}

async function build(name: string, folder: string): Promise<void> {
  const entry = PROGRAMS.get(name)
  if (entry === undefined) {
    throw new UsageError(`there is no program "${name}"; ${Array.from(PROGRAMS.keys()).join(', ')}`)
  }
  if (!isReplaceable(folder)) {
    throw new UsageError(`${folder} has other files than those of a build; choose another --out`)
  }
  const bytes = await bundle(entry, folder)
  if (name === 'gateway') await addWeb(folder)
  process.stdout.write(`${join(folder, 'main.js')}  ${(bytes / 2 ** 20).toFixed(1)} MB\n`)
}

/** Whether a folder has nothing but an earlier build. */
function isReplaceable(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).every((name) => BUILT.has(name))
}

stopWithLauncher()
await runCommand({ usage, parse, run })

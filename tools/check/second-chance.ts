import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { FileResult } from './file-result.ts'
import { root } from './run-process.ts'
import { runVitest } from './run-vitest.ts'

/** So many failed files are a broken change, not a busy machine: none of them is run again. */
const MAX_REPEATED = 10
/** More unsteady files than this fail the run. */
export const MAX_UNSTEADY = 3

const unsteadyFolder = join(root, '.data', 'unsteady')

export interface SecondChance {
  /** The last result of each file. */
  readonly files: readonly FileResult[]
  /** Files that failed, and passed when they were run again alone. Relative paths. */
  readonly unsteady: readonly string[]
}

/**
 * Runs each failed file once more, alone. Keeps both outputs of a file that passes then in `.data/unsteady/`.
 */
export async function giveSecondChance(
  files: readonly FileResult[],
  env: Readonly<Record<string, string>>,
): Promise<SecondChance> {
  rmSync(unsteadyFolder, { recursive: true, force: true })
  const failed = files.filter((file) => file.failed > 0)
  if (failed.length > MAX_REPEATED) {
    console.log(`${failed.length} files failed: too many to run them again\n`)
    return { files, unsteady: [] }
  }
  const latest = new Map(files.map((file) => [keyOf(file), file]))
  const unsteady: string[] = []
  for (const first of failed) {
    const name = relative(root, first.path)
    console.log(`\nonce more, alone: ${name}`)
    const second = await runVitest([`--project=${first.project}`, first.path], 'tee', env)
    const again = second.files.find((file) => keyOf(file) === keyOf(first))
    // Whatever else ended badly, such as vitest itself, leaves the first result.
    if (!second.isGood || again === undefined) continue
    latest.set(keyOf(first), again)
    unsteady.push(name)
    keepOutputs(name, first.failures.join('\n\n'), second.output)
  }
  return { files: [...latest.values()], unsteady }
}

function keyOf({ project, path }: FileResult): string {
  return `${project} ${path}`
}

function keepOutputs(name: string, first: string, second: string): void {
  const file = join(unsteadyFolder, name.replaceAll(/[/\\]/g, '__'))
  mkdirSync(unsteadyFolder, { recursive: true })
  writeFileSync(`${file}.1.txt`, `${first}\n`)
  writeFileSync(`${file}.2.txt`, second)
}

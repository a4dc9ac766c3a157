import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { RealServer } from './servers.ts'

const Manifest = z.object({ bin: z.union([z.string(), z.record(z.string(), z.string())]) })

/** The command that starts a server, directly and as an entry of `mcp.json`. */
export interface Command {
  readonly command: string
  readonly args: string[]
  readonly env: Record<string, string>
  readonly cwd: string
}

/** Prepares the working folder of a server. `packageFolder`: the folder of its installed package. */
export async function prepareCommand(
  server: RealServer,
  packageFolder: string,
  folder: string,
): Promise<Command> {
  await mkdir(folder, { recursive: true })
  for (const [name, text] of Object.entries(server.files ?? {})) {
    await writeFile(join(folder, name), text)
  }
  const { bin } = Manifest.parse(
    JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')),
  )
  const program = typeof bin === 'string' ? bin : bin[server.bin ?? Object.keys(bin)[0] ?? '']
  if (program === undefined) throw new Error(`${server.package} has no program ${server.bin}`)
  return {
    command: process.execPath,
    args: [join(packageFolder, program), ...inFolder(server.args ?? [], folder)],
    // With a separate home folder, servers have the same stored data for every client.
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...inFolder(server.env ?? {}, folder) },
    cwd: folder,
  }
}

/** A copy of a value with `{folder}` replaced in all strings. */
export function inFolder<T>(value: T, folder: string): T {
  return JSON.parse(JSON.stringify(value).replaceAll('{folder}', folder)) as T
}

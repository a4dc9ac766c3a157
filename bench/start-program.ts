import { createInterface } from 'node:readline'
import type { Guardian } from '@mcp-host/process'
import { spawnGuarded } from '@mcp-host/process'

/** Starts a program of the benchmarks with Node, in a process that ends with the guardian. */
export async function startProgram(guardian: Guardian, file: string, ...args: readonly string[]) {
  const { pid, stdin, stdout } = await spawnGuarded(guardian, {
    command: process.execPath,
    args: [file, ...args],
    cwd: import.meta.dirname,
    env: { PATH: process.env['PATH'] },
    stdin: 'pipe',
    stderr: 'inherit',
  })
  if (stdin === null || stdout === null) throw new Error(`${file} has no pipes`)
  return { pid, stdin, lines: createInterface({ input: stdout }) }
}

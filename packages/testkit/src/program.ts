import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GuardedProcess, ProcessExit } from '@mcp-host/process'
import { Guardian, spawnGuarded } from '@mcp-host/process'
import { eventually } from './eventually.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/** A command of the repository, started as a user does. */
export interface Program extends AsyncDisposable {
  readonly process: GuardedProcess
  /** Standard output and error so far. */
  output(): string
  /** Waits until the output contains a text. Throws when the program ends without it. */
  says(text: string): Promise<void>
  /** Resolves when the program has ended. */
  ended(): Promise<ProcessExit>
}

/** A command of the repository on a terminal. */
export interface TerminalProgram extends Program {
  /** Types a line, and presses Enter. */
  type(line: string): void
}

const RUN = join(root, 'tools', 'run.mjs')

/** Runs `node tools/run.mjs …` with these settings alone; `input` is its standard input. */
export async function runProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input?: string,
): Promise<Program> {
  const stdin = input === undefined ? 'ignore' : 'pipe'
  const program = await start({ command: process.execPath, args: [RUN, ...args], env, stdin })
  program.process.stdin?.end(input)
  return program
}

/** Runs `node tools/run.mjs …` on a terminal of its own, by the command `script` of util-linux. */
export async function runOnTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<TerminalProgram> {
  const command = [process.execPath, RUN, ...args].map((each) => `'${each}'`).join(' ')
  const quiet = ['-q', '-e', '-c', command, '/dev/null']
  const program = await start({ command: 'script', args: quiet, env, stdin: 'pipe' })
  return {
    ...program,
    type: (line) => void program.process.stdin?.write(`${line}\r`),
  }
}

interface Start {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly stdin: 'ignore' | 'pipe'
}

async function start({ command, args, env, stdin }: Start): Promise<Program> {
  const guardian = new Guardian()
  const child = await spawnGuarded(guardian, {
    command,
    args,
    cwd: root,
    // The settings of the user who runs the tests must not apply.
    env: { ...inherited(), ENV_FILE: 'none', ...env },
    stdin,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  let hasEnded = false
  void child.exited.then(() => {
    hasEnded = true
  })
  return {
    process: child,
    output: () => output,
    async says(text) {
      await eventually(
        () => {
          if (output.includes(text)) return true
          if (hasEnded) throw new Error(`ended without saying "${text}":\n${output}`)
          return false
        },
        { limitMs: 60_000, what: `"${text}"` },
      )
    },
    ended: () => child.gone,
    [Symbol.asyncDispose]: () => guardian[Symbol.asyncDispose](),
  }
}

/** The variables that a program needs of the machine, without settings of the host. */
function inherited(): Record<string, string | undefined> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'NATS_SERVER_BIN', 'MCP_HOST_CACHE', 'XDG_CACHE_HOME']
  return Object.fromEntries(names.map((name) => [name, process.env[name]]))
}

/** Whether a process runs; a zombie does not. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  if (stat === undefined) return false
  return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z')
}

/**
 * The number of processes whose command line has `mark`, without the shells that start them. Linux only. Other test
 * files run the same programs at the same time, so `mark` must be an argument of this file's alone.
 */
export async function countProcesses(mark: string): Promise<number> {
  const lines = await Promise.all(
    (await readdir('/proc'))
      .filter((each) => /^\d+$/.test(each))
      .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  )
  return lines.filter((line) => line.includes(mark) && !line.includes('/bin/sh')).length
}

/** The ids of a process and all its descendants. Linux only. */
export async function family(pid: number): Promise<number[]> {
  const file = `/proc/${pid}/task/${pid}/children`
  const children = (await readFile(file, 'utf8').catch(() => '')).trim().split(' ')
  const descendants = await Promise.all(
    children
      .filter((each) => each !== '')
      .map(Number)
      .map(family),
  )
  return [pid, ...descendants.flat()]
}

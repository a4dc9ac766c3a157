import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import { lifelineSignal } from '../lifeline.ts'
import { testEnvironment } from './test-environment.ts'

/** The folder of the workspace. */
export const root = join(import.meta.dirname, '..', '..')

export type Command = readonly [string, ...string[]]

/** `collect` keeps what the process prints, `show` passes it on, `tee` does both. */
export type OutputMode = 'collect' | 'show' | 'tee'

const running = new Set<ChildProcess>()

/** Runs a program in the environment of tests until it and its leftover processes have ended. */
export function runProcess(
  [program, ...args]: Command,
  mode: OutputMode,
  extraEnv: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly output: string }> {
  // In its own process group, so that leftover processes of a test can be ended with it.
  const child = spawn(program, args, {
    cwd: root,
    env: { ...testEnvironment(process.env, root), ...extraEnv },
    detached: true,
    stdio: mode === 'show' ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      if (mode === 'tee') process.stdout.write(chunk)
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', () => endGroup(child, 'SIGKILL'))
    child.on('close', (code) => {
      running.delete(child)
      resolve({ code: code ?? 1, output })
    })
  })
}

/** Stops all processes, and then this one, when the user stops this one or its launcher ends. */
export function stopWithUser(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stopAll(128 + constants.signals[signal]))
  }
  lifelineSignal().addEventListener('abort', () => stopAll(1))
}

/** Stops all processes, by force if necessary, and then this one. */
function stopAll(exitCode: number): void {
  for (const child of running) endGroup(child, 'SIGTERM')
  setTimeout(() => {
    for (const child of running) endGroup(child, 'SIGKILL')
    process.exit(exitCode)
  }, 2_000)
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid!, signal)
  } catch {
    // The group has no processes left.
  }
}

import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { isFromNpm } from './watch-parent.mjs'

const lifelineFd = 3

/**
 * Runs a program in the place of this process: its terminal, its signals, its end. Where the system and Node can do it,
 * the program replaces this process, which would take 60 MB to wait. Elsewhere it holds the far end of a pipe that ends
 * when this process does, however it dies.
 */
export function launch(command, args, env) {
  if (process.platform !== 'win32' && process.execve !== undefined) {
    const lifeline = isFromNpm ? { MCP_HOST_LIFELINE_FD: 'parent' } : {}
    process.execve(command, [command, ...args], { ...env, ...lifeline })
  }
  const child = spawn(command, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...env, MCP_HOST_LIFELINE_FD: String(lifelineFd) },
  })
  // A program that closes its end early is no fault of ours.
  child.stdio[lifelineFd].on('error', () => {})

  // The program decides how to stop; this process stays until it has.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal))
  }

  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      // A process that the program left behind may still hold the far end.
      child.stdio[lifelineFd].destroy()
      resolve(code ?? 128 + constants.signals[signal])
    })
  })
}
